//! Reports of made-up runs: what is printed, and what a browser makes of the page.

mod browser;
mod page;
mod sample;
mod text;
mod xml;
