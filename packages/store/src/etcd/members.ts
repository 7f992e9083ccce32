import { type ClientDuplexStream, Metadata } from "@grpc/grpc-js";
import { sleep } from "@virtual-workspaces/transport";
import { StoreError } from "../store-error.ts";
import { Refused, unknown, type Verdict, verdict } from "./errors.ts";
import { Member } from "./member.ts";
import { authenticate, type Method } from "./methods.ts";
import type { Settings } from "./options.ts";

/** Total time of a call over all members, in ms. etcd itself gives up a proposal after 7 s. */
const DEADLINE = 10_000;
/** Time for one member to answer a call that is safe to retry, in ms. */
const ATTEMPT = 4000;
/** Pause after all members have rejected a call, in ms. */
const PAUSE = 100;
/** Time for etcd to check a password, in ms: the check is slow on purpose. */
const CHECK = 4000;
/** Outages up to this time are not reported, in ms: a member that restarts, or the election of a leader. */
const GAP = 1000;

/** Options of a call. */
export interface AskOptions {
  /** Whether the call is safe to retry. @default true */
  readonly repeatable?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Call in progress. */
interface PendingCall<In, Out> {
  readonly method: Method<In, Out>;
  readonly bytes: Buffer;
  readonly deadline: number;
  readonly repeatable: boolean;
  readonly signal: AbortSignal | undefined;
}

/** All members, one of which is used until it fails, and the login. */
export class Members implements Disposable {
  readonly name: string;
  /** Learns from calls and streams whether etcd answers. */
  readonly outage: Outage;
  /** Called with a member that is no longer used. */
  onleave: ((member: Member) => void) | undefined;
  readonly #members: readonly Member[];
  readonly #login: Login;
  readonly #closed = new AbortController();
  #current: number;

  constructor(settings: Settings) {
    this.name = settings.name;
    this.outage = new Outage(settings.onOutage);
    this.#login = new Login(settings.login);
    this.#members = settings.addresses.map((address) => new Member(address, settings));
    for (const member of this.#members) member.onhang = () => this.leave(member);
    this.#current = Math.floor(Math.random() * this.#members.length); // random, to spread many stores over the members
  }

  /** Aborts when the store is closed. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** Member in use. */
  get current(): Member {
    return this.#members[this.#current] as Member;
  }

  /** Switches to another member, if there is one. */
  leave(member: Member): void {
    if (this.current !== member || this.#members.length === 1) return;
    this.#current = (this.#current + 1) % this.#members.length;
    this.onleave?.(member);
  }

  /**
   * Calls until there is a response, a final error, or the time is up.
   *
   * @throws StoreError, or the signal's reason
   */
  ask<In, Out>(method: Method<In, Out>, message: In, options: AskOptions = {}): Promise<Out> {
    const { repeatable = true, signal } = options;
    const bytes = method.encode(message); // now, since the caller may modify the message afterwards
    return this.#ask({ method, bytes, deadline: performance.now() + DEADLINE, repeatable, signal });
  }

  /** Opens a stream to a member. Throws as {@link ask} does without a connection or token. */
  async stream<In, Out>(method: Method<In, Out>, member: Member): Promise<ClientDuplexStream<In, Out>> {
    if (!member.connected) await member.connect(performance.now() + ATTEMPT);
    return member.stream(method, await this.#login.metadata(member));
  }

  /** Calls one member once. */
  async askOne<In, Out>(method: Method<In, Out>, message: In, member: Member): Promise<Out> {
    const metadata = await this.#login.metadata(member);
    const options = { metadata, deadline: performance.now() + ATTEMPT, signal: undefined };
    return member.call(method, method.encode(message), options);
  }

  /** Discards the token for streams. */
  forgetToken(): void {
    this.#login.forget();
  }

  [Symbol.dispose](): void {
    this.#closed.abort();
    for (const member of this.#members) member[Symbol.dispose]();
  }

  async #ask<In, Out>(asking: PendingCall<In, Out>): Promise<Out> {
    const { deadline, repeatable, signal } = asking;
    let tokens = 0;
    let refusal: StoreError | undefined;
    for (let failures = 1; ; ) {
      signal?.throwIfAborted();
      if (this.closed.aborted) throw StoreError.closed(this.name);
      const member = this.current;
      const found = await this.#attempt(asking, member);
      if (found.is === "answer") {
        this.outage.answered();
        return found.answer;
      }
      const { error } = found;
      if (!this.closed.aborted && (found.is === "lost" || found.is === "refused")) this.outage.failed(error);
      if (found.is === "lost" && !repeatable) throw unknown(error);
      if (this.closed.aborted) throw StoreError.closed(this.name);
      if (found.is === "refused") refusal = error;
      if (found.is === "final") throw error;
      if (performance.now() >= deadline) throw refusal ?? error; // the rejection says more than a timeout
      if (found.is === "token") {
        if (tokens++ > 0) throw error;
        continue;
      }
      this.leave(member);
      if (failures++ % this.#members.length === 0) await this.pause(PAUSE);
    }
  }

  /** Waits, at most until the store closes. */
  async pause(ms: number): Promise<void> {
    await sleep(ms, { signal: this.closed });
  }

  async #attempt<In, Out>(
    { method, bytes, deadline, repeatable, signal }: PendingCall<In, Out>,
    member: Member,
  ): Promise<Verdict | { readonly is: "answer"; readonly answer: Out }> {
    let login: Promise<Metadata> | undefined;
    try {
      if (!member.connected) await member.connect(deadline);
      login = this.#login.metadata(member);
      const metadata = await login;
      signal?.throwIfAborted();
      if (this.closed.aborted) throw StoreError.closed(this.name); // no request was sent
      const until = repeatable ? Math.min(deadline, performance.now() + ATTEMPT) : deadline;
      return { is: "answer", answer: await member.call(method, bytes, { metadata, deadline: until, signal }) };
    } catch (error) {
      signal?.throwIfAborted();
      const found = verdict(error, member.name);
      if (found.is === "token") this.#login.forget(login);
      return found;
    }
  }
}

/** Metadata of every call: the token, and the demand that a member without a leader fails at once. */
class Login {
  readonly #as: Settings["login"];
  #metadata: Promise<Metadata> | undefined;

  constructor(as: Settings["login"]) {
    this.#as = as;
  }

  /** @throws Refused if no token is available now; `ServiceError` if etcd rejects the login */
  metadata(member: Member): Promise<Metadata> {
    if (this.#metadata === undefined) {
      const made = this.#authenticate(member);
      this.#metadata = made;
      made.catch(() => this.forget(made));
    }
    return this.#metadata;
  }

  /** Discards a token, so that the next call requests another. */
  forget(used: Promise<Metadata> | undefined = this.#metadata): void {
    if (this.#metadata === used) this.#metadata = undefined;
  }

  async #authenticate(member: Member): Promise<Metadata> {
    const metadata = new Metadata();
    metadata.set("hasleader", "true");
    if (this.#as === undefined) return metadata;
    const bytes = authenticate.encode(this.#as);
    const options = { metadata, deadline: performance.now() + CHECK, signal: undefined };
    try {
      const { token } = await member.call(authenticate, bytes, options);
      metadata.set("token", token);
    } catch (error) {
      const text = String((error as Error).message);
      if (/authentication failed|user name/.test(text)) throw error;
      // etcd without users: any client that reaches it may do everything.
      if (!/authentication is not enabled/.test(text)) throw new Refused(`login: ${text}`);
    }
    return metadata;
  }
}

/** Reports once when etcd, which has answered before, stops answering, and once when it answers again. */
class Outage {
  readonly #report: (problem: StoreError | undefined) => void;
  #hasAnswered = false;
  #failingSince: number | undefined;
  #isReported = false;

  constructor(report: (problem: StoreError | undefined) => void = () => undefined) {
    this.#report = report;
  }

  failed(problem: StoreError): void {
    if (!this.#hasAnswered || this.#isReported) return;
    this.#failingSince ??= performance.now();
    if (performance.now() - this.#failingSince < GAP) return;
    this.#isReported = true;
    this.#report(problem);
  }

  answered(): void {
    this.#hasAnswered = true;
    this.#failingSince = undefined;
    if (!this.#isReported) return;
    this.#isReported = false;
    this.#report(undefined);
  }
}
