import { type ApiError, apiVersionOf, isApiError } from "@virtual-workspaces/apimachinery";
import { type ConnectionProblem, connectionProblem, isTransportError } from "@virtual-workspaces/transport";
import { retryAfterOf } from "../http/answer.ts";
import type { ResourceClient } from "../resource/resource-client.ts";
import type { LifecycleEvent } from "./events.ts";

/** Properties of an informer's resource that messages name. */
type ReadResource = Pick<ResourceClient, "url"> & { readonly kind: Omit<ResourceClient["kind"], "type"> };

export interface ReadFailuresOptions {
  readonly resource: ReadResource;
  /** Called for the first failure with a reason. */
  readonly failed: (error: Error) => void;
  /** Called when the informer reads after a failure. */
  readonly recovered: (text: string) => void;
}

interface ReadFailure {
  readonly reason: string;
  readonly wasOpen: boolean;
}

/** Time that a busy server may ask to wait in all before that is a failure, ms: client-go retries ten times in silence. */
const BUSY = 10_000;

/** Reports why an informer cannot read: once for each reason, however many attempts fail, and its recovery. */
export class ReadFailures {
  readonly #options: ReadFailuresOptions;
  #isSynced = false;
  #current: ReadFailure | undefined;
  /** Time that a busy server has asked to wait since it last answered otherwise, ms. */
  #waited = 0;

  constructor(options: ReadFailuresOptions) {
    this.#options = options;
  }

  /** Forgets the failure: a new start reports it again. */
  reset(): void {
    this.#current = undefined;
    this.#isSynced = false;
    this.#waited = 0;
  }

  /** @param wasOpen whether the attempt of an event of type `error` had opened a watch */
  see(event: LifecycleEvent, wasOpen: boolean): void {
    if (event.type === "synced" || event.type === "relisted") {
      this.#isSynced = true;
      this.#recovered();
    } else if (event.type === "connected") {
      this.#waited = 0;
      // A watch that opens and breaks again is no recovery.
      if (this.#current?.wasOpen === false) this.#recovered();
    } else if (event.type === "error") this.#failed(event.error, wasOpen);
  }

  #failed(error: Error, wasOpen: boolean): void {
    // A server that restarts, or a proxy with a time limit, ends watches. If the next attempt fails, that is the failure.
    if (wasOpen && this.#isSynced && isTransportError(error)) return;
    if (this.#isBusy(error)) return;
    const { resource, failed } = this.#options;
    const reason = reasonOf(error, resource);
    if (this.#current?.reason === reason) return;
    this.#current = { reason, wasOpen };
    const { plural } = resource.kind;
    failed(new Error(`informer of ${plural} cannot read ${resource.url}: ${reason}`, { cause: error }));
  }

  /** Returns whether the server only asks to come back soon, as kcp does while it starts. */
  #isBusy(error: Error): boolean {
    const wait = isApiError(error) && error.code === 429 ? retryAfterOf(error) : 0;
    this.#waited += wait;
    return wait > 0 && this.#waited < BUSY;
  }

  #recovered(): void {
    this.#waited = 0;
    if (this.#current === undefined) return;
    this.#current = undefined;
    const { resource, recovered } = this.#options;
    recovered(`informer of ${resource.kind.plural} reads ${resource.url} again`);
  }
}

const REMEDIES: Readonly<Record<ConnectionProblem["kind"], string>> = {
  unresolved: "check the host of the URL",
  refused: "start the server, or check host and port",
  expired: "renew it where the server runs",
  names: "use one of these names, or add this one to the certificate",
  untrusted:
    "set tls.ca of the client's upstream, or certificate-authority of the kubeconfig, to the authority that issued it",
  silent: "check for a firewall in between, and whether the server is overloaded",
};

function reasonOf(error: Error, resource: ReadResource): string {
  if (isApiError(error)) return rejection(error, resource);
  const problem = isTransportError(error) ? connectionProblem(error, resource.url) : undefined;
  return problem === undefined ? plain(error.message) : `${plain(problem.text)}: ${REMEDIES[problem.kind]}`;
}

function rejection({ code, message, status }: ApiError, { kind }: ReadResource): string {
  if (code === 401)
    return "the server rejects the credentials (401 Unauthorized): check the token or client certificate";
  if (code === 403)
    return `${plain(message)}: ${
      message.includes('"system:anonymous"')
        ? "the request has no credentials: set credentials of the client's upstream"
        : "grant this user list and watch"
    }`;
  if (code === 404)
    return `the server does not serve ${kind.plural} of ${apiVersionOf(kind)} (404): check the path of the URL, and group, version and plural of the kind`;
  // Messages of an overloaded server may differ each time, as with a request's number.
  return code < 500 && code !== 429
    ? `${plain(message)} (${code})`
    : `the server answers ${code} ${status.reason ?? ""}`.trim();
}

/** Maximum number of characters of another program's text. */
const SHOWN = 500;

/** Security: control characters of a server's text could forge a log line or control a terminal. */
function plain(text: string): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, " ").trim();
  return line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line;
}
