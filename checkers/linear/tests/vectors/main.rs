//! Histories of other tools, where the folder that holds them is there: they are read, and judged as its index says.

mod index;
mod judging;
mod reading;
