/**
 * An engine of the framework's proxy over the package `http-proxy`, which has to be installed beside it.
 *
 * @module
 */

export { HttpProxyEngine, type HttpProxyOptions, httpProxyEngine } from "./proxy/http-proxy/engine.ts";
