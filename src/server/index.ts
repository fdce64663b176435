/** The HTTP surface. */
export { type HttpServer, type HttpServerOptions, type Readiness, startHttpServer } from './start-http-server.ts';
