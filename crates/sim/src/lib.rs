//! One world: state, time stepping, actuators and contact.
