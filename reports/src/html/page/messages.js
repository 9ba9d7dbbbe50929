// The diagram of messages opens at the first violation.
{
  const diagram = document.querySelector("#messages .diagram");
  const violation = diagram?.querySelector(".violation");
  if (violation) {
    diagram.scrollTop = Number(violation.getAttribute("y")) - 160;
  }
}
