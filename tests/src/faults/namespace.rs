//! A network of its own, whose packets are dropped or let through slowly.
