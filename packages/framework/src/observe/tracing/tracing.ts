import type { TLSSocket } from "node:tls";
import type * as Api from "@opentelemetry/api";
import { prefixOf } from "../../request/path.ts";
import { parseTraceState } from "../../request/trace-parent.ts";
import { codeOf, type ObservedRequest } from "../observer.ts";

/** Where every copy of OpenTelemetry's API, version 1, stores its registrations. */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");

const NAME = "@virtual-workspaces/framework";

/**
 * Records a span for each request once a tracer provider is registered with `@opentelemetry/api`. Until then the API is not
 * loaded, and need not be installed.
 */
export class Tracing {
  #api: typeof Api | undefined;
  #loading: Promise<void> | undefined;

  /** Resolves when tracing is active, or known to be off. */
  async ready(): Promise<void> {
    if (isRegistered()) await this.#load();
  }

  /** Runs a request within its own span. */
  run<R extends ObservedRequest>(request: R, run: (request: R) => Promise<void>): Promise<void> {
    if (!isRegistered()) return run(request);
    if (this.#api === undefined) {
      void this.#load();
      return run(request);
    }
    return traced(this.#api, request, run);
  }

  #load(): Promise<void> {
    this.#loading ??= import("@opentelemetry/api").then(
      (api) => {
        this.#api = api;
      },
      () => undefined, // another copy of the API, out of reach
    );
    return this.#loading;
  }
}

function isRegistered(): boolean {
  const registered = (globalThis as { readonly [REGISTERED]?: { readonly trace?: unknown } })[REGISTERED];
  return registered?.trace !== undefined;
}

function traced<R extends ObservedRequest>(
  api: typeof Api,
  request: R,
  run: (request: R) => Promise<void>,
): Promise<void> {
  const { req, path } = request;
  const parent = parentOf(api, request);
  const attributes: Api.Attributes = {
    "http.request.method": req.method ?? "",
    "url.path": path,
    "url.scheme": (req.socket as Partial<TLSSocket>).encrypted === true ? "https" : "http",
    "network.protocol.version": req.httpVersion,
  };
  const tracer = api.trace.getTracer(NAME);
  const span = tracer.startSpan(req.method ?? "HTTP", { kind: api.SpanKind.SERVER, attributes }, parent);
  const { traceId } = span.spanContext();
  if (api.isValidTraceId(traceId)) request.spanTraceId = traceId;
  request.stream.once("close", () => end(api, request, span));
  return api.context.with(api.trace.setSpan(parent, span), () => run(request));
}

function parentOf(api: typeof Api, { trace, req }: ObservedRequest): Api.Context {
  if (trace === undefined) return api.ROOT_CONTEXT;
  const { traceId, spanId, flags } = trace;
  const state = parseTraceState(req.headersDistinct["tracestate"] ?? []);
  return api.trace.setSpanContext(api.ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: flags,
    isRemote: true,
    ...(state === undefined ? {} : { traceState: api.createTraceState(state) }),
  });
}

function end(api: typeof Api, request: ObservedRequest, span: Api.Span): void {
  const code = codeOf(request);
  const route = routeOf(request);
  if (code > 0) span.setAttribute("http.response.status_code", code);
  if (route !== undefined) {
    span.setAttribute("http.route", route);
    span.updateName(`${request.req.method} ${route}`);
  }
  if (request.failed || code === 0 || code >= 500) {
    span.setAttribute("error.type", code >= 500 ? String(code) : code === 0 ? "aborted" : "cut");
    span.setStatus({ code: api.SpanStatusCode.ERROR });
  }
  span.end();
}

/** Returns the route template of a path: without names of clusters, namespaces and objects. */
function routeOf({ core, mounted, path, info, served }: ObservedRequest): string | undefined {
  if (mounted === undefined) return undefined;
  if (core.ownViews.get(path) === mounted) return path;
  const view = `${prefixOf(mounted)}${mounted.path === "/" ? "" : mounted.path}`;
  if (served === undefined || info === undefined) return view === "" ? "/" : view;
  const { group, version, plural } = served.definition;
  const { namespace, name, subresource } = info;
  const known = served.subresources.some((one) => one.name === subresource);
  return [
    view,
    ...(group === "" ? ["api", version] : ["apis", group, version]),
    ...(namespace === "" || plural === "namespaces" ? [] : ["namespaces", ":namespace"]),
    plural,
    ...(name === "" ? [] : [":name"]),
    ...(known ? [subresource] : []),
  ].join("/");
}
