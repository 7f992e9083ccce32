import type { Dispatcher } from "undici";
import { Body } from "./body.ts";
import { failureOf } from "./failure.ts";
import type { ResponseHeaders } from "./headers.ts";
import type { StreamedResponse, WholeResponse } from "./response.ts";
import { TransportError } from "./transport-error.ts";

export interface ExchangeOptions {
  /** `GET https://host/path`. */
  readonly what: string;
  /** Until the head has come, ms. */
  readonly head: number;
  readonly signal: AbortSignal | undefined;
}

/** The longest that a timer can run, ms. */
const LONGEST_DELAY = 2 ** 31 - 1;

/** One request on its way, as undici tells of it. Settles once, whatever it is told afterwards. */
abstract class Exchange<R> implements Dispatcher.DispatchHandler {
  readonly answer: Promise<R>;
  readonly #options: ExchangeOptions;
  readonly #late: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #resolve!: (answer: R) => void;
  #reject!: (error: unknown) => void;
  #reason: Error | undefined;
  #delivered = false;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.answer = new Promise<R>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const { head, what, signal } = options;
    this.#late = setTimeout(
      () => this.end(this.failure("timeout", `no answer within ${head} ms`)),
      Math.min(head, LONGEST_DELAY),
    );
    signal?.addEventListener("abort", this.#abort, { once: true });
    if (signal?.aborted === true) this.#abort();
    void what;
  }

  readonly #abort = (): void => this.end(this.#options.signal?.reason);

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#delivered = true;
    if (this.#reason !== undefined) controller.abort(this.#reason);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    // 1xx is no answer.
    if (status < 200) return;
    clearTimeout(this.#late);
    this.begin(controller, status, headers);
  }

  abstract onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void;
  abstract onResponseEnd(): void;
  protected abstract begin(controller: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void;

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const { what } = this.#options;
    this.fail(this.#reason ?? failureOf(error, { what, delivered: this.#delivered }));
  }

  /** Gives up, for a reason of ours. */
  protected end(reason: unknown): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason instanceof Error ? reason : new Error(String(reason));
    this.#controller?.abort(this.#reason);
    this.fail(this.#reason);
  }

  protected failure(code: TransportError["code"], text: string): TransportError {
    return new TransportError(code, `${this.#options.what}: ${text}`, { delivered: this.#delivered });
  }

  protected settle(answer: R): void {
    this.#resolve(answer);
  }

  protected fail(error: unknown): void {
    this.over();
    this.#reject(error);
  }

  /** Nothing more is to come. */
  protected over(): void {
    clearTimeout(this.#late);
    this.#options.signal?.removeEventListener("abort", this.#abort);
  }
}

/** An answer that is read whole. */
export class WholeExchange extends Exchange<WholeResponse> {
  readonly #limit: number;
  readonly #pieces: Buffer[] = [];
  #length = 0;
  #status = 0;
  #headers: ResponseHeaders = {};

  constructor(options: ExchangeOptions & { readonly limit: number }) {
    super(options);
    this.#limit = options.limit;
  }

  protected begin(_controller: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, piece: Buffer): void {
    this.#length += piece.length;
    if (this.#length > this.#limit)
      this.end(this.failure("tooLarge", `the answer is longer than ${this.#limit} bytes`));
    else this.#pieces.push(piece);
  }

  onResponseEnd(): void {
    this.over();
    const [first] = this.#pieces;
    const body = this.#pieces.length === 1 && first !== undefined ? first : Buffer.concat(this.#pieces);
    this.settle({ status: this.#status, headers: this.#headers, body });
  }
}

/** An answer that is read piece by piece. */
export class StreamedExchange extends Exchange<StreamedResponse> {
  #body: Body | undefined;

  protected begin(controller: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    const body = new Body(controller);
    this.#body = body;
    this.settle({
      status,
      headers,
      body,
      [Symbol.asyncDispose]: async () => {
        await body.return();
      },
    });
  }

  onResponseData(_controller: Dispatcher.DispatchController, piece: Buffer): void {
    this.#body?.push(piece);
  }

  onResponseEnd(): void {
    this.over();
    this.#body?.end();
  }

  protected override fail(error: unknown): void {
    super.fail(error);
    this.#body?.fail(error);
  }
}
