import { quote } from "../text/go-format.ts";
import { formatCauses } from "./field-cause.ts";
import {
  type KnownReason,
  type Status,
  type StatusCause,
  type StatusDetails,
  type StatusReason,
  statusCodes,
} from "./status.ts";
import { formatGroupKind, formatGroupResource, type GroupKind, type GroupResource } from "./types.ts";

const BRAND = Symbol.for("@virtual-workspaces/apimachinery/ApiError");

/** Options of {@link ApiError.forbidden}: the access that was denied. */
export interface ForbiddenOptions {
  readonly resource: GroupResource;
  readonly name?: string | undefined;
  /** Message for the client, unchanged. Security: it must not reveal why a policy denies access. */
  readonly message: string;
  /** Reasons for programs: `{ reason: "NamespaceTerminating", … }`. @default none */
  readonly causes?: readonly StatusCause[] | undefined;
}

/** Options of {@link ApiError.invalid}: the object and its faults. */
export interface InvalidOptions {
  readonly kind: GroupKind;
  /** Name of the object; empty if it has none yet. */
  readonly name: string;
  /** One cause for each field at fault, such as of `fieldInvalid()`. */
  readonly causes: readonly StatusCause[];
}

/**
 * Error that is sent to the client as a Kubernetes `Status`. Throw it from anywhere in a request, and never write a Status by
 * hand. The factories give the codes, reasons and messages of Kubernetes' own `api/errors`, so that clients which match on
 * them keep working. Recognize one with {@link isApiError}, not `instanceof`: two copies of this package may be loaded.
 *
 * @example
 * ```ts
 * import { ApiError } from "@virtual-workspaces/apimachinery";
 *
 * const rows = new Set(["a"]);
 * export function create(name: string): void {
 *   if (rows.has(name)) throw ApiError.alreadyExists({ group: "example.dev", resource: "rows" }, name);
 *   rows.add(name);
 * }
 * ```
 * @see docs/how-to/writes.md#write-into-a-storage-of-your-own
 */
export class ApiError extends Error {
  override readonly name: string = "ApiError";
  readonly status: Status;

  static {
    Object.defineProperty(ApiError.prototype, BRAND, { value: true });
  }

  constructor(status: Status, options?: ErrorOptions) {
    super(status.message, options);
    this.status = status;
  }

  /** HTTP status code. */
  get code(): number {
    return this.status.code;
  }

  /** Machine-readable reason; "" if a forwarded Status has none. */
  get reason(): StatusReason {
    return this.status.reason ?? "";
  }

  /** 400: the request itself is malformed. */
  static badRequest(message: string): ApiError {
    return failure("BadRequest", message);
  }

  /** 401: missing or invalid credentials. The default message is all that Kubernetes reveals to such a client. */
  static unauthorized(message = "Unauthorized"): ApiError {
    return failure("Unauthorized", message);
  }

  /** 403. Use `forbiddenFor` for the message of a denied request. */
  static forbidden(options: ForbiddenOptions): ApiError {
    const { resource, name = "", message, causes = [] } = options;
    const subject = formatGroupResource(resource);
    const prefix = subject === "" ? "forbidden" : `${subject}${name === "" ? "" : ` ${quote(name)}`} is forbidden`;
    const details = about(resource, name);
    return failure("Forbidden", `${prefix}: ${message}`, causes.length === 0 ? details : { ...details, causes });
  }

  /** 404 for an object. */
  static notFound(resource: GroupResource, name: string): ApiError {
    return failure("NotFound", `${formatGroupResource(resource)} ${quote(name)} not found`, about(resource, name));
  }

  /** 404 for a path that serves nothing. */
  static notFoundPath(message = "the server could not find the requested resource"): ApiError {
    return failure("NotFound", message, {});
  }

  /** 405: the resource exists but does not support this verb. */
  static methodNotAllowed(resource: GroupResource, verb: string): ApiError {
    const message = `${verb} is not supported on resources of kind ${quote(formatGroupResource(resource))}`;
    return failure("MethodNotAllowed", message, about(resource, ""));
  }

  /** 406: the server can write none of the media types in Accept. */
  static notAcceptable(accepted: readonly string[]): ApiError {
    return failure("NotAcceptable", `only the following media types are accepted: ${accepted.join(", ")}`);
  }

  /** 409: an object of that name exists. */
  static alreadyExists(resource: GroupResource, name: string): ApiError {
    const message = `${formatGroupResource(resource)} ${quote(name)} already exists`;
    return failure("AlreadyExists", message, about(resource, name));
  }

  /** 409: another request has changed the object; the client reads it again and retries. */
  static conflict(resource: GroupResource, name: string, message: string): ApiError {
    const subject = `${formatGroupResource(resource)} ${quote(name)}`;
    return failure("Conflict", `Operation cannot be fulfilled on ${subject}: ${message}`, about(resource, name));
  }

  /** 410 `Expired`: a resource version or continue token is too old; the client lists again. */
  static expired(message: string): ApiError {
    return failure("Expired", message);
  }

  /** 410 `Gone`: the older form of {@link ApiError.expired}, for something that will not come back. */
  static gone(message: string): ApiError {
    return failure("Gone", message);
  }

  /** 413: the request body exceeds the limit. */
  static requestEntityTooLarge(message: string): ApiError {
    return failure("RequestEntityTooLarge", `Request entity too large: ${message}`);
  }

  /** 415: the server does not read the media type of the request body. */
  static unsupportedMediaType(accepted: readonly string[]): ApiError {
    const list = accepted.join(", ");
    const message = `the body of the request was in an unknown format - accepted media types include: ${list}`;
    return failure("UnsupportedMediaType", message);
  }

  /** 422: the object, or an option of the request, breaks a rule; each cause names its field. */
  static invalid(options: InvalidOptions): ApiError {
    const { kind, name, causes } = options;
    const subject = `${formatGroupKind(kind)} ${quote(name)} is invalid`;
    const details = { ...named(name), ...grouped(kind.group), ...(kind.kind === "" ? {} : { kind: kind.kind }) };
    if (causes.length === 0) return failure("Invalid", subject, details);
    return failure("Invalid", `${subject}: ${formatCauses(causes)}`, { ...details, causes });
  }

  /** 429: retry after `retryAfterSeconds`. */
  static tooManyRequests(message: string, retryAfterSeconds: number): ApiError {
    return failure("TooManyRequests", message, { retryAfterSeconds });
  }

  /** 500. Security: the message goes to the client, so it must not hold internal details. */
  static internalError(message: string): ApiError {
    return failure("InternalError", `Internal error occurred: ${message}`, { causes: [{ message }] });
  }

  /** 503: not ready, or overloaded. */
  static serviceUnavailable(message: string, retryAfterSeconds?: number): ApiError {
    const details = retryAfterSeconds === undefined ? undefined : { retryAfterSeconds };
    return failure("ServiceUnavailable", message, details);
  }

  /** 501: this server cannot do it, now or later. Kubernetes has no reason for this code. */
  static notImplemented(message: string): ApiError {
    return new ApiError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: 501 });
  }

  /** 502: an upstream is unreachable, or its answer cannot be forwarded. Kubernetes has no reason for this code. */
  static badGateway(message: string): ApiError {
    return new ApiError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: 502 });
  }

  /** 507: no storage left. Kubernetes has no reason for this code; clients see that they cannot fix it. */
  static insufficientStorage(message: string): ApiError {
    return new ApiError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: 507 });
  }

  /** 504: not done in time; the server may still do it. */
  static timeout(message: string, retryAfterSeconds: number): ApiError {
    return failure("Timeout", `Timeout: ${message}`, { retryAfterSeconds });
  }

  /** 504 with cause `ResourceVersionTooLarge`: the client has seen newer state than this server, and retries in a second. */
  static tooLargeResourceVersion(requested: string, current: string): ApiError {
    const causes: StatusCause[] = [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }];
    const message = `Timeout: Too large resource version: ${requested}, current: ${current}`;
    return failure("Timeout", message, { causes, retryAfterSeconds: 1 });
  }
}

/**
 * Whether a thrown value carries a Status, from any copy of this package.
 *
 * @example
 * ```ts
 * import { isApiError } from "@virtual-workspaces/apimachinery";
 *
 * const unlessGone = (error: unknown) => (isApiError(error) && error.code === 404 ? undefined : Promise.reject(error));
 * ```
 * @see docs/reference/errors.md
 */
export function isApiError(error: unknown): error is ApiError {
  return typeof error === "object" && error !== null && BRAND in error;
}

/**
 * Converts a thrown value into an error for the client. Security: an unknown error becomes a 500 without its text, which may
 * hold internal details. It stays available as `cause`, for the log.
 */
export function toApiError(error: unknown): ApiError {
  if (isApiError(error)) return error;
  return new ApiError(failureStatus("InternalError", "Internal error occurred"), { cause: error });
}

function failure(reason: KnownReason, message: string, details?: StatusDetails): ApiError {
  return new ApiError(failureStatus(reason, message, details));
}

function failureStatus(reason: KnownReason, message: string, details?: StatusDetails): Status {
  const head = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason } as const;
  const code = statusCodes[reason];
  return details === undefined ? { ...head, code } : { ...head, details, code };
}

function about(resource: GroupResource, name: string): StatusDetails {
  return {
    ...named(name),
    ...grouped(resource.group),
    ...(resource.resource === "" ? {} : { kind: resource.resource }),
  };
}

function named(name: string): { name?: string } {
  return name === "" ? {} : { name };
}

function grouped(group: string): { group?: string } {
  return group === "" ? {} : { group };
}

/** Denied request, input of {@link forbiddenFor}. */
export interface ForbiddenRequest {
  /** Name of the user; "" without a user. */
  readonly user: string;
  /** Verb as RBAC names it: `get`, `list`, `watch`, `create`, ... */
  readonly verb: string;
  /** Requested resource; absent for a non-resource request. */
  readonly resource?: GroupResource | undefined;
  readonly subresource?: string | undefined;
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  /** URL path of a non-resource request. */
  readonly path?: string | undefined;
  /** Reason, added after a colon. Security: the client sees it, so it must not reveal why a policy denies access. */
  readonly reason?: string | undefined;
}

/**
 * Returns the 403 of Kubernetes' authorization filter, word for word: `quotes.example.dev "x" is forbidden: User "u" cannot
 * get resource "quotes" in API group "example.dev" at the cluster scope`. Markup characters become entities, as in
 * Kubernetes.
 */
export function forbiddenFor(request: ForbiddenRequest): ApiError {
  const { reason = "", resource = { group: "", resource: "" }, name } = request;
  const text = withoutMarkup(description(request));
  return ApiError.forbidden({ resource, name, message: reason === "" ? text : `${text}: ${reason}` });
}

function description(request: ForbiddenRequest): string {
  const { user, verb, resource, subresource = "", namespace = "", path = "" } = request;
  const who = `User ${quote(user)} cannot ${verb}`;
  if (resource === undefined) return `${who} path ${quote(path)}`;
  const what = subresource === "" ? resource.resource : `${resource.resource}/${subresource}`;
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${quote(namespace)}`;
  return `${who} resource ${quote(what)} in API group ${quote(resource.group)} ${where}`;
}

function withoutMarkup(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
