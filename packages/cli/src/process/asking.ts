/** Request of one process to another, and its answer. */
export type Asked<Request extends object> =
  | { readonly type: "ask"; readonly id: number; readonly request: Request }
  | { readonly type: "answer"; readonly id: number; readonly value?: unknown; readonly error?: string };

/** Requests to another process over messages, in order. Those without an answer wait until {@link close}. */
export class Asking<Request extends object> {
  readonly #send: (message: Asked<Request>) => void;
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>();
  #last = 0;

  constructor(send: (message: Asked<Request>) => void) {
    this.#send = send;
  }

  /** Returns the answer. @throws Error of the other process, and after {@link close} */
  ask(request: Request): Promise<unknown> {
    const id = ++this.#last;
    const asked = Promise.withResolvers<unknown>();
    this.#pending.set(id, asked);
    this.#send({ type: "ask", id, request });
    return asked.promise;
  }

  /** Takes an answer. */
  take({ id, value, error }: Asked<Request> & { readonly type: "answer" }): void {
    const asked = this.#pending.get(id);
    this.#pending.delete(id);
    if (error === undefined) asked?.resolve(value);
    else asked?.reject(new Error(error));
  }

  /** Rejects the pending requests after the end of the other process. */
  close(): void {
    for (const asked of this.#pending.values()) asked.reject(new Error("the other process has ended"));
    this.#pending.clear();
  }
}

/** Answers a request of another process. */
export async function answerTo(
  id: number,
  work: () => Promise<unknown>,
  send: (message: Asked<never> & { readonly type: "answer" }) => void,
): Promise<void> {
  try {
    send({ type: "answer", id, value: await work() });
  } catch (error) {
    send({ type: "answer", id, error: (error as Error).message });
  }
}
