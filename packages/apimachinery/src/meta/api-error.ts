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

/** What an access to a resource was refused for: {@link ApiError.forbidden}. */
export interface ForbiddenOptions {
  readonly resource: GroupResource;
  readonly name?: string | undefined;
  /** Shown to the client as it is: it must not leak why a policy said no. */
  readonly message: string;
  /** Why, for programs: `{ reason: "NamespaceTerminating", … }`. @default none */
  readonly causes?: readonly StatusCause[] | undefined;
}

/** What an object is invalid for: {@link ApiError.invalid}. */
export interface InvalidOptions {
  readonly kind: GroupKind;
  readonly name: string;
  readonly causes: readonly StatusCause[];
}

/**
 * An error that is sent to the client as a Kubernetes `Status`. Throw it from anywhere in a request; never write a
 * Status by hand. The factories give the codes, reasons and messages of Kubernetes' own `api/errors`, so that clients
 * which match on them keep working. Recognise one with {@link isApiError}, not `instanceof`: two copies of this
 * package may be loaded.
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

  /** The HTTP status code. */
  get code(): number {
    return this.status.code;
  }

  /** The machine-readable reason; "" when a forwarded Status has none. */
  get reason(): StatusReason {
    return this.status.reason ?? "";
  }

  /** 400: the request itself is malformed. */
  static badRequest(message: string): ApiError {
    return failure("BadRequest", message);
  }

  /** 401: no credentials, or bad ones. The default is all that Kubernetes tells such a client. */
  static unauthorized(message = "Unauthorized"): ApiError {
    return failure("Unauthorized", message);
  }

  /** 403. Use `forbiddenFor` for the message of a refused request. */
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

  /** 404 for a path that nothing is served under. */
  static notFoundPath(message = "the server could not find the requested resource"): ApiError {
    return failure("NotFound", message, {});
  }

  /** 405: the resource is there but does not have this verb. */
  static methodNotAllowed(resource: GroupResource, verb: string): ApiError {
    const message = `${verb} is not supported on resources of kind ${quote(formatGroupResource(resource))}`;
    return failure("MethodNotAllowed", message, about(resource, ""));
  }

  /** 406: none of the media types in Accept can be written. */
  static notAcceptable(accepted: readonly string[]): ApiError {
    return failure("NotAcceptable", `only the following media types are accepted: ${accepted.join(", ")}`);
  }

  /** 409: an object of that name is there already. */
  static alreadyExists(resource: GroupResource, name: string): ApiError {
    const message = `${formatGroupResource(resource)} ${quote(name)} already exists`;
    return failure("AlreadyExists", message, about(resource, name));
  }

  /** 409: the object was changed in between; the client reads it again and retries. */
  static conflict(resource: GroupResource, name: string, message: string): ApiError {
    const subject = `${formatGroupResource(resource)} ${quote(name)}`;
    return failure("Conflict", `Operation cannot be fulfilled on ${subject}: ${message}`, about(resource, name));
  }

  /** 410 `Expired`: a resource version or continue token is too old; the client lists again. */
  static expired(message: string): ApiError {
    return failure("Expired", message);
  }

  /** 410 `Gone`: the older form of {@link ApiError.expired}, for what will not come back. */
  static gone(message: string): ApiError {
    return failure("Gone", message);
  }

  /** 413: the request body is over the limit. */
  static requestEntityTooLarge(message: string): ApiError {
    return failure("RequestEntityTooLarge", `Request entity too large: ${message}`);
  }

  /** 415: the request body is of a media type that is not read here. */
  static unsupportedMediaType(accepted: readonly string[]): ApiError {
    const list = accepted.join(", ");
    const message = `the body of the request was in an unknown format - accepted media types include: ${list}`;
    return failure("UnsupportedMediaType", message);
  }

  /** 422: the object, or the options of the request, break a rule; each cause names its field. */
  static invalid(options: InvalidOptions): ApiError {
    const { kind, name, causes } = options;
    const subject = `${formatGroupKind(kind)} ${quote(name)} is invalid`;
    const details = { ...named(name), ...grouped(kind.group), ...(kind.kind === "" ? {} : { kind: kind.kind }) };
    if (causes.length === 0) return failure("Invalid", subject, details);
    return failure("Invalid", `${subject}: ${formatCauses(causes)}`, { ...details, causes });
  }

  /** 429: come back after `retryAfterSeconds`. */
  static tooManyRequests(message: string, retryAfterSeconds: number): ApiError {
    return failure("TooManyRequests", message, { retryAfterSeconds });
  }

  /** 500. The message goes to the client: it must not hold what a client may not know. */
  static internalError(message: string): ApiError {
    return failure("InternalError", `Internal error occurred: ${message}`, { causes: [{ message }] });
  }

  /** 503: not ready, or overloaded. */
  static serviceUnavailable(message: string, retryAfterSeconds?: number): ApiError {
    const details = retryAfterSeconds === undefined ? undefined : { retryAfterSeconds };
    return failure("ServiceUnavailable", message, details);
  }

  /** 501: this server has no way to do it, now or later. Kubernetes knows no reason for that. */
  static notImplemented(message: string): ApiError {
    return new ApiError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: 501 });
  }

  /** 502: another server answers what is not passed on, or cannot be had by whoever should. Kubernetes knows no reason for that. */
  static badGateway(message: string): ApiError {
    return new ApiError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: 502 });
  }

  /** 507: there is no room to keep it. Kubernetes knows no reason for that: clients see that it is not theirs to mend. */
  static insufficientStorage(message: string): ApiError {
    return new ApiError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: 507 });
  }

  /** 504: not done in time; it may still be done. */
  static timeout(message: string, retryAfterSeconds: number): ApiError {
    return failure("Timeout", `Timeout: ${message}`, { retryAfterSeconds });
  }

  /** 504 with cause `ResourceVersionTooLarge`: the client is ahead of this server, and retries in a second. */
  static tooLargeResourceVersion(requested: string, current: string): ApiError {
    const causes: StatusCause[] = [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }];
    const message = `Timeout: Too large resource version: ${requested}, current: ${current}`;
    return failure("Timeout", message, { causes, retryAfterSeconds: 1 });
  }
}

/**
 * Whether a thrown value carries a Status, whichever copy of this package made it.
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
 * Whatever was thrown, as an error for the client. An unknown error becomes a 500 that says nothing of it, since its
 * text may hold what a client may not know; it stays reachable as `cause`, for the log.
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

/** A request that was refused: {@link forbiddenFor}. */
export interface ForbiddenRequest {
  /** Name of the user; "" when there is none. */
  readonly user: string;
  /** The verb as RBAC names it: `get`, `list`, `watch`, `create`, ... */
  readonly verb: string;
  /** What was asked for; absent for a request that is about no resource. */
  readonly resource?: GroupResource | undefined;
  readonly subresource?: string | undefined;
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  /** The URL path, for a request that is about no resource. */
  readonly path?: string | undefined;
  /** Added after a colon. It is shown to the client: it must not leak why a policy said no. */
  readonly reason?: string | undefined;
}

/**
 * The 403 that Kubernetes' authorization filter answers, word for word:
 * `quotes.example.dev "x" is forbidden: User "u" cannot get resource "quotes" in API group "example.dev" at the
 * cluster scope`. Markup characters in it are written as entities, as Kubernetes does.
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
