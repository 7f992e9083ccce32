import { ApiError } from "@virtual-workspaces/apimachinery";
import type { RawRequest } from "@virtual-workspaces/framework";
import { cancellationOf, deriveRequest } from "@virtual-workspaces/framework/request";
import { Cancellation } from "@virtual-workspaces/transport";
import type { MountTarget } from "./targets.ts";

type Request = RawRequest<Readonly<Record<string, string>>>;

/** A mount with an unchanged target, and the requests in flight through it. */
export class OpenMount implements AsyncDisposable {
  readonly target: MountTarget;
  readonly #open = new Set<PassedRequest<Request>>();

  constructor(target: MountTarget) {
    this.target = target;
  }

  get isActive(): boolean {
    return this.#open.size > 0;
  }

  /** Forwards a request, which ends with the mount: a stream of lines after a whole line, all others at once. */
  async pass<R extends Request>(request: R, send: (passed: R) => Promise<void>): Promise<void> {
    const passed = new PassedRequest(request, this.target.path);
    this.#open.add(passed);
    try {
      await send(passed.derived);
    } finally {
      this.#open.delete(passed);
      passed[Symbol.dispose]();
    }
  }

  /** Aborts the requests in flight. */
  async [Symbol.asyncDispose](): Promise<void> {
    const reason = ApiError.serviceUnavailable("the workspace's mount changed during the request: try again", 1);
    for (const passed of this.#open) passed.end(reason);
    await this.target[Symbol.asyncDispose]?.();
  }
}

/** A request as the mount's target sees it. */
class PassedRequest<R extends Request> implements Disposable {
  readonly derived: R;
  readonly #request: R;
  readonly #cut = new Cancellation();
  #ending: AbortController | undefined;

  constructor(request: R, prefix: string) {
    this.#request = request;
    const cancellation = cancellationOf(request);
    if (cancellation === undefined) request.signal.addEventListener("abort", this.#gone, { once: true });
    else cancellation.on(this.#gone);
    if (cancellation?.cancelled ?? request.signal.aborted) this.#gone();
    const ending = (): AbortSignal => this.#endingOf();
    const cut = this.#cut;
    this.derived = deriveRequest(request, {
      prefix,
      cancellation: cut,
      get signal() {
        return cut.signal;
      },
      get ending() {
        return ending();
      },
    });
  }

  /** Aborts when the server begins to close or the mount changes. */
  #endingOf(): AbortSignal {
    if (this.#ending !== undefined) return this.#ending.signal;
    this.#ending = new AbortController();
    const { ending } = this.#request;
    ending.addEventListener("abort", this.#closing, { once: true });
    if (ending.aborted) this.#closing();
    return this.#ending.signal;
  }

  end(reason: ApiError): void {
    this.#closing();
    this.#cut.cancel(reason);
  }

  [Symbol.dispose](): void {
    const cancellation = cancellationOf(this.#request);
    if (cancellation === undefined) this.#request.signal.removeEventListener("abort", this.#gone);
    else cancellation.off(this.#gone);
    if (this.#ending !== undefined) this.#request.ending.removeEventListener("abort", this.#closing);
  }

  readonly #gone = (): void => {
    const { reason } = cancellationOf(this.#request) ?? this.#request.signal;
    this.#cut.cancel(reason);
  };
  readonly #closing = (): void => this.#ending?.abort();
}
