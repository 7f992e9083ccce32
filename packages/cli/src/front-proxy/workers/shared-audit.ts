import { Writable } from "node:stream";
import { type Audit, audit, type LineWriter, lineWriter } from "@virtual-workspaces/framework/audit";
import type { Log, MetricFamily } from "@virtual-workspaces/framework/server";
import { Failure } from "../../process/failure.ts";

/** Interval of reports about lost events, ms. */
const TELL_EVERY = 10_000;

/** Writes the audit events of all workers to one target, in whole lines. */
export class SharedAudit implements AsyncDisposable {
  readonly #writer: LineWriter;
  readonly #log: Log;
  #last: Promise<void> = Promise.resolve();
  #lost = 0;
  #toldAt = Number.NEGATIVE_INFINITY;

  private constructor(writer: LineWriter, log: Log) {
    this.#writer = writer;
    this.#log = log;
  }

  /** @throws Failure when the file cannot be written */
  static async open({ to }: Audit, log: Log): Promise<SharedAudit> {
    const writer = lineWriter(to, (error) =>
      log({ level: "warn", message: "audit log file not rotated", error: String(error) }),
    );
    try {
      await writer.open();
    } catch (error) {
      throw new Failure(`audit: ${(error as Error).message}`, { cause: error });
    }
    return new SharedAudit(writer, log);
  }

  /** Writes whole lines. Resolves once they are written or lost. */
  write(lines: Uint8Array): Promise<void> {
    this.#last = this.#last.then(() => this.#write(Buffer.from(lines)));
    return this.#last;
  }

  /** Returns the metric of lost events; the workers count the others. */
  families(): readonly MetricFamily[] {
    return [
      {
        ...{ name: "apiserver_audit_error_total", type: "counter", labelNames: ["plugin"] },
        help: "Audit events lost: not written, or dropped because too many were pending.",
        samples: [{ labels: ["log"], value: this.#lost }],
      },
    ];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#last;
    await this.#writer.close();
  }

  async #write(lines: Buffer): Promise<void> {
    try {
      await this.#writer.write(lines);
    } catch (error) {
      this.#lost += lines.toString("latin1").split("\n").length - 1;
      const now = performance.now();
      if (now - this.#toldAt < TELL_EVERY) return;
      this.#toldAt = now;
      this.#log({ level: "error", message: "audit events lost", count: this.#lost, error: String(error) });
    }
  }
}

/** Returns the audit log of a worker, whose lines go to the primary process. @param write resolves once lines are written or lost */
export function auditThrough(of: Audit, write: (lines: Uint8Array) => Promise<unknown>): Audit {
  const to = new Writable({
    write: (lines: Buffer, _encoding, done) => {
      // Without a primary process this one ends, too.
      write(lines).then(
        () => done(),
        () => done(),
      );
    },
  });
  return audit({ ...of, to });
}
