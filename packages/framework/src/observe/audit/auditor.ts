import { ApiError } from "@virtual-workspaces/apimachinery";
import { timerDelay, untilAborted } from "@virtual-workspaces/transport";
import { LineQueue } from "../log/line-queue.ts";
import type { Log } from "../log/log.ts";
import { type LineWriter, lineWriter } from "../log/target.ts";
import type { Observer } from "../observer.ts";
import type { Audit } from "./audit.ts";
import { AuditRules } from "./audit-rules.ts";
import type { AuditStage } from "./check-policy.ts";
import { eventLine, placeOf } from "./event.ts";
import { originOf } from "./origin.ts";
import { type AuditedRequest, AuditRecord } from "./record.ts";

/** Time events wait to be encoded, and then to be written, together, ms. */
const DELAY = 20;
/** Rough size of an event without its URL, bytes. */
const TYPICAL = 1024;
/** Size of a batch to encode: encoding events one at a time, between the stages of requests, takes three times as long. */
const TOGETHER = 64 * TYPICAL;
/** Interval of reports about lost events, ms. */
const TELL_EVERY = 10_000;

/** An event to encode. */
interface Pending {
  readonly request: AuditedRequest;
  readonly record: AuditRecord;
  readonly stage: AuditStage;
  readonly moment: number;
}

export interface AuditorOptions {
  readonly audit: Audit;
  readonly log: Log;
  /** Time a request waits for room, ms. */
  readonly patience: number;
}

/** Writes the audit events of a server. */
export class Auditor implements Observer, AsyncDisposable {
  /** Events, and the lost and rejected ones among them. */
  readonly stats = { events: 0, lost: 0, rejected: 0 };
  readonly #audit: Audit;
  readonly #log: Log;
  readonly #patience: number;
  readonly #rules: AuditRules;
  readonly #writer: LineWriter;
  readonly #queue: LineQueue;
  #pending: Pending[] = [];
  /** Rough size of pending events, bytes. */
  #pendingSize = 0;
  #timer: NodeJS.Timeout | undefined;
  #untold = 0;
  #why = "";
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor({ audit, log, patience }: AuditorOptions) {
    this.#audit = audit;
    this.#log = log;
    this.#patience = patience;
    this.#rules = new AuditRules(audit.policy);
    this.#writer = lineWriter(audit.to, (error) =>
      log({ level: "warn", message: "audit log file not rotated", error: String(error) }),
    );
    const onLost = (count: number, error: unknown): void => this.#lost(count, String(error));
    this.#queue = new LineQueue({ writer: this.#writer, limit: audit.maxPending, delay: DELAY, onLost });
  }

  /** @throws Error when the file cannot be written */
  async open(): Promise<void> {
    try {
      await this.#writer.open();
    } catch (error) {
      throw new Error(`audit: ${(error as Error).message}`, { cause: error });
    }
  }

  began(request: AuditedRequest): void {
    request.origin = originOf(request);
  }

  /** Called after authentication, before any effect. A promise delays the request until there is room for its events. */
  received(request: AuditedRequest): void | Promise<void> {
    // First, since a record may capture what is written.
    if (this.#audit.blocking) holdEnd(request, () => this.#finished(request));
    const record = this.#record(request);
    request.audited = record;
    if (record.decision.level === "None") return undefined;
    if (this.#audit.whenFull === "drop") return this.#write(request, record, "RequestReceived");
    if (!this.#full) return this.#admit(request, record);
    return this.#wait(request).then(() => this.#admit(request, record));
  }

  started(request: AuditedRequest): void {
    if (request.audited !== undefined) this.#write(request, request.audited, "ResponseStarted");
  }

  ended(request: AuditedRequest): void {
    request.audited ??= this.#record(request);
    if (!request.audited.complete) this.#write(request, request.audited, request.failed ? "Panic" : "ResponseComplete");
  }

  /** Makes the last event of a request whose response is about to end. @returns a promise while it is not written */
  #finished(request: AuditedRequest): Promise<void> | undefined {
    const record = request.audited;
    if (record?.admitted !== true || request.ended) return undefined;
    record.complete = true;
    this.#write(request, record, request.failed ? "Panic" : "ResponseComplete");
    this.#render();
    return this.#queue.written();
  }

  /** Writes pending events. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#render();
    await this.#queue[Symbol.asyncDispose]();
    this.#toldAt = Number.NEGATIVE_INFINITY;
    if (this.#untold > 0) this.#tell();
  }

  #record(request: AuditedRequest): AuditRecord {
    const decision = this.#rules.decide(request, request.impersonator ?? request.user);
    return new AuditRecord(request, decision, this.#audit.maxObject);
  }

  #place({ knownCluster: cluster }: AuditedRequest): string | undefined {
    return cluster === "" ? undefined : placeOf(cluster, this.#audit.pathOf?.(cluster) ?? "");
  }

  get #full(): boolean {
    return this.#queue.isFullWith(this.#pendingSize);
  }

  /** From now on every effect of the request is recorded, whatever else arrives. */
  #admit(request: AuditedRequest, record: AuditRecord): void {
    record.admitted = true;
    this.#write(request, record, "RequestReceived");
  }

  #write(request: AuditedRequest, record: AuditRecord, stage: AuditStage): void {
    const { level, omitStages } = record.decision;
    if (level === "None" || omitStages.has(stage)) return;
    record.place ??= this.#place(request);
    this.stats.events += 1;
    // Probes and early rejections were not delayed: any client can send them, so they must not fill the memory.
    if (!record.admitted && this.#full) this.#lost(1, "too many audit events are pending");
    else
      this.#add({
        request,
        record,
        stage,
        moment: stage === "RequestReceived" ? request.startedAt : performance.now(),
      });
  }

  #add(event: Pending): void {
    const { path, search } = event.request;
    this.#pending.push(event);
    this.#pendingSize += TYPICAL + path.length + search.length;
    // Whole objects are released as early as possible.
    if (this.#pendingSize >= TOGETHER || event.record.decision.response) this.#render();
    else this.#timer ??= setTimeout(() => this.#render(), DELAY).unref();
  }

  #render(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const events = this.#pending;
    this.#pending = [];
    this.#pendingSize = 0;
    for (const { request, ...event } of events) this.#queue.add(eventLine(request, event));
  }

  async #wait(request: AuditedRequest): Promise<void> {
    const { signal } = request;
    signal.throwIfAborted();
    this.#render();
    const { promise, reject } = Promise.withResolvers<never>();
    const late = setTimeout(() => {
      this.stats.rejected += 1;
      reject(ApiError.serviceUnavailable("the audit log cannot be written fast enough; try again", 1));
    }, timerDelay(this.#patience));
    try {
      await untilAborted(Promise.race([this.#queue.room(), promise]), signal);
    } finally {
      clearTimeout(late);
    }
  }

  #lost(count: number, why: string): void {
    this.stats.lost += count;
    this.#untold += count;
    this.#why = why;
    this.#tell();
  }

  /** In batches: a full disk would fill the log too. */
  #tell(): void {
    const now = performance.now();
    if (now - this.#toldAt < TELL_EVERY) return;
    this.#toldAt = now;
    this.#log({ level: "error", message: "audit events lost", count: this.#untold, error: this.#why });
    this.#untold = 0;
  }
}

type End = (...written: unknown[]) => unknown;

/**
 * Delays the end of a response. Meanwhile `writableEnded` is true, as after an `end` of Node's. An upgraded connection has no such end.
 *
 * @param ready called at the end; the response ends once its promise has settled, or the client has left
 */
function holdEnd({ res, signal, upgradeHead }: AuditedRequest, ready: () => Promise<void> | undefined): void {
  if (upgradeHead !== undefined) return;
  const held = res as unknown as { end: End };
  const { end } = held;
  held.end = (...written) => {
    held.end = end;
    const pending = ready();
    if (pending === undefined) return end.apply(res, written);
    Object.defineProperty(res, "writableEnded", { value: true, configurable: true });
    const finish = (): void => {
      Reflect.deleteProperty(res, "writableEnded");
      if (!res.writableEnded) end.apply(res, written);
    };
    untilAborted(pending, signal).then(finish, finish);
    return res;
  };
}
