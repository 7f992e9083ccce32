import { createHash } from "node:crypto";
import { quote } from "@virtual-workspaces/apimachinery";
import { FailureStreaks, Targets } from "@virtual-workspaces/framework/proxy";
import type { Log } from "@virtual-workspaces/framework/server";
import { isTransportError, Upstream, type UpstreamOptions } from "@virtual-workspaces/transport";
import { WebhookMeter } from "./meter.ts";
import { WebhookCallError } from "./rejection.ts";
import type { Webhook } from "./webhook.ts";

/** Calls of admission webhooks. */
export interface AdmissionWebhooksOptions {
  /**
   * Opens the connections. Security: users who may create a configuration choose the address, so this function alone keeps
   * them out of the server's networks. Webhooks get no credentials, but objects, and names and groups of users.
   */
  readonly dial: NonNullable<UpstreamOptions["dial"]>;
}

/** Options of a {@link WebhookClient}. */
export interface WebhookClientOptions {
  /** @default no webhook can be called */
  readonly calls: AdmissionWebhooksOptions | undefined;
  readonly log: Log;
}

/** One call of a webhook. */
export interface WebhookCall {
  readonly webhook: Webhook;
  /** AdmissionReview, JSON. */
  readonly body: string;
  /** Aborts with the request. */
  readonly signal: AbortSignal;
}

/** Maximum length of an answer, in bytes: a patch may contain an object of the longest request, in base64. */
const LONGEST = 4 * 1024 * 1024;
/** Maximum number of concurrent calls of one server; further ones wait, within their time limit. */
const CONNECTIONS = 64;
const HEADERS = Object.freeze(["Accept", "application/json", "Content-Type", "application/json"]);

/** Failures in a row after which a webhook gets no requests for a while. */
const MOST = 5;
/** How long it gets none, ms; after that, one request tries it. */
const PAUSE = 1_000;

/**
 * Stops calls of a webhook that does not answer, so that requests which wait for it do not pile up. Configurations change,
 * and servers restart, so the pause is short.
 *
 * Security: each webhook of a configuration has one of its own. Any user may configure a webhook at the server of another, and
 * must not be able to stop the other's calls.
 */
class Breaker {
  #failures = 0;
  #until = 0;

  /** Returns whether a request may be sent; after a pause, one that tries the webhook. */
  get isClosed(): boolean {
    if (this.#failures < MOST) return true;
    if (performance.now() < this.#until) return false;
    this.#until = performance.now() + PAUSE;
    return true;
  }

  answered(): void {
    this.#failures = 0;
  }

  failed(): void {
    this.#failures += 1;
    this.#until = performance.now() + PAUSE;
  }
}

/** Sends AdmissionReviews. Servers with equal addresses and authorities share connections; redirects are not followed. */
export class WebhookClient implements AsyncDisposable {
  readonly meter: WebhookMeter = new WebhookMeter();
  readonly #calls: AdmissionWebhooksOptions | undefined;
  readonly #targets = new Targets<Upstream>({ isActive: ({ stats }) => stats.active > 0 });
  readonly #breakers = new WeakMap<Webhook, Breaker>();
  readonly #failures: FailureStreaks;

  constructor({ calls, log }: WebhookClientOptions) {
    this.#calls = calls;
    this.#failures = new FailureStreaks((error) =>
      log({ level: "warn", message: "cannot call an admission webhook", error: String(error) }),
    );
  }

  /**
   * Calls a webhook and returns the body of its answer.
   *
   * @throws WebhookCallError, and the reason of the signal
   */
  async call({ webhook, body, signal }: WebhookCall): Promise<Buffer> {
    const { address, timeout } = webhook;
    const late = AbortSignal.timeout(timeout * 1000);
    const { origin, pathname } = new URL(address.url);
    const key = `${origin} ${createHash("sha256")
      .update(address.ca ?? "")
      .digest("base64")}`;
    const path = `${pathname}?timeout=${timeout}s`;
    const breaker = this.#breakerOf(webhook);
    try {
      if (!breaker.isClosed) throw new Error("not called, since the last calls failed: try again in a second");
      const deadlines = { head: timeout * 1000, idle: timeout * 1000 };
      const within = AbortSignal.any([signal, late]);
      const sent = { method: "POST", path, headers: HEADERS, body, signal: within, deadlines, limit: LONGEST };
      const { status, body: answer } = await this.#upstream(key, origin, address.ca).send(sent);
      breaker.answered();
      if (status !== 200) throw new Error(`unexpected status ${status} instead of 200`);
      this.#failures.answered(key);
      return answer;
    } catch (error) {
      // A client that cancels its request says nothing about the webhook.
      if (signal.aborted) throw error;
      if (late.aborted || isTransportError(error)) breaker.failed();
      // The deadline of the whole call and that of the head are equal: either may be the first.
      const isLate = late.aborted || (isTransportError(error) && error.code === "timeout");
      const what = isLate ? "context deadline exceeded" : reasonOf(error);
      const post = `Post ${quote(`${address.url}?timeout=${timeout}s`)}`;
      const failure = new WebhookCallError(webhook, "failed to call webhook", `${post}: ${what}`);
      this.#failures.failed(failure, key);
      throw failure;
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#targets[Symbol.asyncDispose]();
  }

  #breakerOf(webhook: Webhook): Breaker {
    let breaker = this.#breakers.get(webhook);
    if (breaker === undefined) {
      breaker = new Breaker();
      this.#breakers.set(webhook, breaker);
    }
    return breaker;
  }

  #upstream(key: string, origin: string, ca: string | undefined): Upstream {
    const calls = this.#calls;
    if (calls === undefined) throw new Error("this server calls no admission webhooks: ask its operator to allow it");
    const make = (): Upstream =>
      new Upstream({
        url: origin,
        dial: calls.dial,
        connections: CONNECTIONS,
        userAgent: "kube-apiserver-admission",
        ...(ca !== undefined && { tls: { ca } }),
      });
    return this.#targets.of(key, "", make);
  }
}

/** Returns the reason of a failure without the request, which the message names anyway. */
function reasonOf(error: unknown): string {
  const { message } = error as Error;
  return isTransportError(error) ? message.replace(/^POST \S+: /, "") : message;
}
