//! The engine is lost: noticed once, told once, and whoever waits for it goes on at once.

use std::{cell::RefCell, future::Future, rc::Rc};

use bollard::{errors::Error as DockerError, query_parameters::InspectContainerOptions};
use tokio::sync::Notify;

use crate::engine::{Engine, explain};
use crate::world::SHORT;

/// Whether the connection to the engine is lost, shared by everything that uses it.
#[derive(Clone, Default)]
pub struct Loss(Rc<(RefCell<Option<String>>, Notify)>);

impl Loss {
    /// It is lost; the first reason counts.
    pub fn declare(&self, why: &str) {
        let told = format!("the connection to the engine was lost: {why}");
        self.0.0.borrow_mut().get_or_insert(told);
        self.0.1.notify_waiters();
    }

    /// In words, once it is lost.
    pub fn told(&self) -> Option<String> {
        self.0.0.borrow().clone()
    }

    /// Completes, with the reason, once it is lost.
    pub async fn until(&self) -> String {
        loop {
            let notified = self.0.1.notified();
            if let Some(told) = self.told() {
                return told;
            }
            notified.await;
        }
    }

    /// What comes of the future, unless the engine is lost first.
    ///
    /// # Errors
    /// That it is.
    pub async fn or<T>(&self, future: impl Future<Output = T>) -> Result<T, String> {
        tokio::select! {
            biased;
            told = self.until() => Err(told),
            value = future => Ok(value),
        }
    }
}

/// Why the stream to a node's container came to its end, in words; declares the loss if it was the connection.
pub async fn why_closed(
    engine: &Engine,
    loss: &Loss,
    node: &str,
    container: &str,
    broke: Option<String>,
) -> String {
    let lost = |why: &str| {
        loss.declare(why);
        loss.told().unwrap_or_default()
    };
    let inspected = engine.docker.inspect_container(container, None::<InspectContainerOptions>);
    let state = match tokio::time::timeout(SHORT, inspected).await {
        Err(_) => return lost("it does not answer"),
        Ok(Err(DockerError::DockerResponseServerError { status_code: 404, .. })) => None,
        Ok(Err(error)) => return lost(&explain(&error)),
        Ok(Ok(container)) => container.state,
    };
    let (running, code) = state.map_or((false, None), |state| (state.running == Some(true), state.exit_code));
    match (broke, code) {
        (Some(error), _) => lost(&format!("that to {node} broke: {error}")),
        (None, _) if running => lost(&format!("that to {node} was closed while its container ran")),
        // So an agent ends whose connection was closed.
        (None, Some(0)) => lost(&format!("that to {node} was closed")),
        (None, Some(code)) => format!("the container of {node} ended: exit code {code}"),
        (None, None) => format!("the container of {node} ended, or the connection to it was closed"),
    }
}
