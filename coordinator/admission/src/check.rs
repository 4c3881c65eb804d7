//! The check of every request, in front of all services.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Request, Response};
use tonic::body::Body;
use tower::{Layer, Service};

use super::Admission;
use super::connection::Connection;

/// Puts the check in front of services.
#[derive(Clone, Debug)]
pub struct Check(Arc<Admission>);

impl Check {
    /// The check that `admission` makes.
    pub fn new(admission: Arc<Admission>) -> Check {
        Check(admission)
    }
}

impl<S> Layer<S> for Check {
    type Service = Checked<S>;

    fn layer(&self, inner: S) -> Checked<S> {
        Checked { inner, admission: self.0.clone() }
    }
}

/// Services behind the check.
#[derive(Clone, Debug)]
pub struct Checked<S> {
    inner: S,
    admission: Arc<Admission>,
}

impl<S, B> Service<Request<B>> for Checked<S>
where
    S: Service<Request<B>, Response = Response<Body>, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let connection = request.extensions().get::<Arc<Connection>>();
        let path = request.uri().path();
        match self.admission.check(connection.map(Arc::as_ref), path, request.headers()) {
            Ok(()) => Box::pin(self.inner.call(request)),
            Err(status) => Box::pin(async move { Ok(status.into_http()) }),
        }
    }
}
