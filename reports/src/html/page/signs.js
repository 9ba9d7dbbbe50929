// The signs of operations on the canvas: each its own shape, so that none depends on its colour alone.
function drawSign(pen, op, x, y) {
  pen.fillStyle = pen.strokeStyle = colors.write;
  pen.lineWidth = 1.6;
  if (op.fate === "accepted") disc(pen, x, y, 3);
  else if (op.fate === "refused") cross(pen, x, y, 3.4);
  else if (op.fate === "lost") {
    pen.strokeStyle = colors.bad;
    pen.fillStyle = colors.paper;
    polygon(pen, [x, y - 5], [x + 5, y], [x, y + 5], [x - 5, y]);
    pen.stroke();
  } else if (op.outcome === "info" || op.outcome === "open") ring(pen, x, y, 3);
  else if (op.f === "renew") polygon(pen, [x - 3.5, y + 3], [x, y - 3.5], [x + 3.5, y + 3]);
  else if (op.outcome === "fail") {
    pen.strokeStyle = colors.soft;
    cross(pen, x, y, 2.4);
  } else {
    pen.fillStyle = colors.soft;
    pen.fillRect(x - 0.75, y - 3, 1.5, 6);
  }
  pen.lineWidth = 1;
}

function disc(pen, x, y, r) {
  pen.beginPath();
  pen.arc(x, y, r, 0, 7);
  pen.fill();
}
function ring(pen, x, y, r) {
  pen.lineWidth = 1.6;
  pen.beginPath();
  pen.arc(x, y, r, 0, 7);
  pen.stroke();
  pen.lineWidth = 1;
}
function cross(pen, x, y, r) {
  pen.beginPath();
  pen.moveTo(x - r, y - r);
  pen.lineTo(x + r, y + r);
  pen.moveTo(x - r, y + r);
  pen.lineTo(x + r, y - r);
  pen.stroke();
}
function polygon(pen, ...corners) {
  pen.beginPath();
  corners.forEach(([x, y]) => pen.lineTo(x, y));
  pen.closePath();
  pen.fill();
}
function outline(pen, x, y, width, height) {
  pen.strokeStyle = colors.focus;
  pen.lineWidth = 2;
  pen.strokeRect(x, y, width, height);
  pen.lineWidth = 1;
}
