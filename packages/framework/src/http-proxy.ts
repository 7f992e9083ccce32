/**
 * Engine of the framework's proxy over the package `http-proxy`, which must be installed beside it.
 *
 * @module
 */

export { HttpProxyEngine, type HttpProxyOptions, httpProxyEngine } from "./proxy/http-proxy/engine.ts";
