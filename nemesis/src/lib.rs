//! Faults, the plans and schedules they come from, and the mechanisms that apply them on a node.
