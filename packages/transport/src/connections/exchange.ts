import type { Duplex } from "node:stream";
import type { Dispatcher } from "undici";
import type { Call } from "../calls/call.ts";
import { Body, type BodySink, type BodySource, type SinkControl } from "../http/body.ts";
import type { ResponseHeaders } from "../http/headers.ts";
import type { StreamedResponse, UpgradedResponse, WholeResponse } from "../http/messages.ts";
import { IdleTimer } from "../time/timer.ts";
import type { TransportError } from "../transport-error.ts";
import { failureOf } from "../transport-error.ts";
import type { Lease } from "./connections.ts";
import { ignored } from "./connector.ts";
import type { WholeHandler } from "./in-process.ts";

export interface ExchangeOptions {
  readonly call: Call;
  readonly lease: Lease;
  /** Maximum time between two chunks of the body, ms. */
  readonly idle: number;
  /** Sends the request again after a failure. `undefined`: the caller gets the error. */
  readonly retry: (failed: Failed) => Promise<unknown> | undefined;
}

/** A failed attempt. */
export interface Failed {
  readonly error: unknown;
  /** Whether a connection had begun to write the request. */
  readonly delivered: boolean;
  /** Whether any part of a response had arrived. */
  readonly begun: boolean;
}

type Controller = Dispatcher.DispatchController;

/** Request on its connection, as a handler for undici. Settles once and ignores later events. */
export abstract class Exchange<R> implements Dispatcher.DispatchHandler {
  readonly answer: Promise<R>;
  /** Whether a connection has begun to write the request. */
  delivered = false;
  /** Whether any part of a response has arrived. */
  begun = false;
  protected readonly call: Call;
  /** Expires when a reader has waited too long. */
  readonly patience: IdleTimer;
  readonly #lease: Lease;
  readonly #retry: ExchangeOptions["retry"];
  readonly #settled = Promise.withResolvers<R>();
  #answered = false;
  #over = false;

  constructor({ call, lease, idle, retry }: ExchangeOptions) {
    this.call = call;
    this.#lease = lease;
    this.#retry = retry;
    this.answer = this.#settled.promise;
    this.patience =
      idle === Number.POSITIVE_INFINITY
        ? IdleTimer.endless
        : new IdleTimer(idle, () => this.fail(this.failure("timeout", `no more of the answer within ${idle} ms`)));
  }

  /** Sends the request. */
  start(request: Dispatcher.DispatchOptions): void {
    this.call.stopsBy(this);
    if (!this.#over) this.#lease.connection.dispatch(request, this);
  }

  /** Ends the attempt, since its call has ended. */
  stop(reason: unknown): void {
    this.fail(reason);
  }

  onRequestStart(_controller: Controller): void {
    this.delivered = true;
    this.call.delivered = true;
  }

  onResponseStarted(): void {
    this.begun = true;
  }

  onResponseStart(controller: Controller, status: number, headers: ResponseHeaders): void {
    // 1xx is not a final response.
    if (status < 200 || this.#over) return;
    this.#answered = true;
    this.begin(controller, { status, headers });
  }

  onResponseData(_controller: Controller, piece: Buffer): void {
    if (!this.#over) this.take(piece);
  }

  onRequestUpgrade(_controller: Controller, ...[status, headers, socket]: [number, ResponseHeaders, Duplex]): void {
    this.begun = true;
    if (this.#over) socket.destroy();
    else this.upgraded({ status, headers }, socket);
  }

  onResponseEnd(): void {
    if (this.#over) return;
    this.over(true);
    this.complete();
  }

  onResponseError(_controller: Controller, error: Error): void {
    const { what, delivered } = this.call;
    this.fail(failureOf(error, { what, delivered, written: this.delivered, answered: this.#answered }));
  }

  protected abstract begin(controller: Controller, head: Pick<WholeResponse, "status" | "headers">): void;
  protected abstract take(piece: Buffer): void;
  protected abstract complete(): void;

  /** @param socket the connection after its HTTP has ended */
  protected upgraded(_head: Pick<WholeResponse, "status" | "headers">, socket: Duplex): void {
    socket.destroy();
    this.fail(this.failure("malformed", "unexpected protocol upgrade: the request did not ask for one"));
  }

  /** Drops the rest of the response. */
  protected drop(): void {
    if (this.#over) return;
    this.over();
    this.call.finish();
  }

  protected failure(code: TransportError["code"], text: string): TransportError {
    return this.call.failure(code, text);
  }

  protected settle(answer: R): void {
    this.#settled.resolve(answer);
  }

  /** Fails the request and closes the connection. */
  protected fail(error: unknown): void {
    if (this.#over) return;
    this.over();
    const again = this.#retry({ error, delivered: this.delivered, begun: this.begun });
    if (again === undefined) this.#settled.reject(error);
    else this.#settled.resolve(again as Promise<R>);
  }

  /** Whether the connection may overwrite a chunk of the body as soon as it has been taken. */
  protected lends(lends: boolean): void {
    this.#lease.connection.lends = lends;
  }

  /** Whether a chunk of this moment will be overwritten. */
  protected get lent(): boolean {
    return this.#lease.connection.lent;
  }

  protected get isOver(): boolean {
    return this.#over;
  }

  /** Ends the exchange. @param whole whether the connection can be used again */
  protected over(whole = false): void {
    this.#over = true;
    this.lends(false);
    this.patience.stop();
    this.call.stopsBy(undefined);
    this.#lease.release(whole);
  }
}

/** Exchange that reads the whole response. */
export class WholeExchange extends Exchange<WholeResponse> implements WholeHandler {
  readonly #limit: number;
  readonly #pieces: Buffer[] = [];
  #length = 0;
  #head: Pick<WholeResponse, "status" | "headers"> = { status: 0, headers: {} };

  constructor(options: ExchangeOptions & { readonly limit: number }) {
    super(options);
    this.#limit = options.limit;
  }

  onWhole(response: WholeResponse): void {
    if (this.isOver) return;
    this.begun = true;
    this.call.answered();
    if (response.body.length > this.#limit) {
      this.#tooLong();
      return;
    }
    this.over(true);
    this.call.finish();
    this.settle(response);
  }

  protected begin(_controller: Controller, head: Pick<WholeResponse, "status" | "headers">): void {
    this.#head = head;
    this.call.answered();
    this.patience.begin();
  }

  protected take(piece: Buffer): void {
    this.patience.begin();
    this.#length += piece.length;
    if (this.#length > this.#limit) this.#tooLong();
    else this.#pieces.push(piece);
  }

  #tooLong(): void {
    this.fail(this.failure("tooLarge", `the answer is longer than ${this.#limit} bytes`));
  }

  protected complete(): void {
    const [first] = this.#pieces;
    const body = this.#pieces.length === 1 && first !== undefined ? first : Buffer.concat(this.#pieces, this.#length);
    this.call.finish();
    this.settle({ ...this.#head, body });
  }
}

/** Exchange that streams the response. */
export class StreamedExchange extends Exchange<StreamedResponse> implements BodySource {
  #body: Body | undefined;
  #controller: Controller | undefined;

  protected begin(controller: Controller, head: Pick<WholeResponse, "status" | "headers">): void {
    this.#controller = controller;
    const body = new Body(this);
    this.#body = body;
    this.lends(true);
    this.settle(new Streamed(head, body));
  }

  pause(): void {
    this.#controller?.pause();
  }

  resume(): void {
    this.#controller?.resume();
  }

  abandon(): void {
    this.drop();
  }

  protected take(piece: Buffer): void {
    this.#body?.push(piece, this.lent);
  }

  protected complete(): void {
    this.call.finish();
    this.#body?.end();
  }

  protected override fail(error: unknown): void {
    super.fail(error);
    if (this.#body === undefined) return;
    this.#body.fail(error);
    this.call.finish({ error });
  }
}

/** Response whose body is streamed. */
class Streamed implements StreamedResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body: Body;

  constructor({ status, headers }: Pick<WholeResponse, "status" | "headers">, body: Body) {
    this.status = status;
    this.headers = headers;
    this.body = body;
  }

  readonly [Symbol.asyncDispose] = async (): Promise<void> => {
    await this.body.return();
  };

  readonly whole = (): Buffer | undefined => this.body.whole();
  readonly into = (sink: BodySink): SinkControl => this.body.into(sink);
}

/** Exchange that streams the response, unless the server switches protocols. */
export class UpgradeExchange extends StreamedExchange {
  protected override upgraded({ headers }: Pick<WholeResponse, "headers">, socket: Duplex): void {
    this.call.answered();
    socket.on("error", ignored);
    this.call.stopsBy({ stop: (reason) => void socket.destroy(reason instanceof Error ? reason : undefined) });
    socket.once("close", () => {
      this.over();
      this.call.finish();
    });
    const answer: UpgradedResponse = { status: 101, headers, socket };
    this.settle(answer as unknown as StreamedResponse);
  }
}
