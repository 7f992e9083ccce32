/** Request of one process to another, and its response. */
export type IpcMessage<Request extends object> =
  | { readonly type: "request"; readonly id: number; readonly request: Request }
  | { readonly type: "response"; readonly id: number; readonly value?: unknown; readonly error?: string };

/** Requests to another process over messages, in order. Those without a response wait until {@link close}. */
export class IpcRequests<Request extends object> {
  readonly #post: (message: IpcMessage<Request>) => void;
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>();
  #last = 0;

  constructor(post: (message: IpcMessage<Request>) => void) {
    this.#post = post;
  }

  /** Returns the value of the response. @throws Error of the other process, and after {@link close} */
  send(request: Request): Promise<unknown> {
    const id = ++this.#last;
    const response = Promise.withResolvers<unknown>();
    this.#pending.set(id, response);
    this.#post({ type: "request", id, request });
    return response.promise;
  }

  /** Receives a response. */
  receive({ id, value, error }: IpcMessage<Request> & { readonly type: "response" }): void {
    const response = this.#pending.get(id);
    this.#pending.delete(id);
    if (error === undefined) response?.resolve(value);
    else response?.reject(new Error(error));
  }

  /** Rejects the pending requests after the end of the other process. */
  close(): void {
    for (const response of this.#pending.values()) response.reject(new Error("the other process has ended"));
    this.#pending.clear();
  }
}

/** Responds to a request of another process. */
export async function respondTo(
  id: number,
  work: () => Promise<unknown>,
  send: (message: IpcMessage<never> & { readonly type: "response" }) => void,
): Promise<void> {
  try {
    send({ type: "response", id, value: await work() });
  } catch (error) {
    send({ type: "response", id, error: (error as Error).message });
  }
}
