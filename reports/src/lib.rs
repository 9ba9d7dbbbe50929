//! Renders finished runs: terminal, HTML, JUnit, Markdown. Never judges.

pub mod judgement;
