import { type ClientDuplexStream, Metadata } from "@grpc/grpc-js";
import { sleep } from "@virtual-workspaces/transport";
import { StoreError } from "../store-error.ts";
import { Refused, unknown, type Verdict, verdict } from "./errors.ts";
import { Member } from "./member.ts";
import { authenticate, type Method } from "./methods.ts";
import type { Settings } from "./options.ts";

/** For how long a call goes from member to member, ms. etcd itself gives a proposal up after 7 s. */
const DEADLINE = 10_000;
/** How long one member may take for what can be asked again, ms. */
const ATTEMPT = 4000;
/** The pause after every member has refused, ms. */
const PAUSE = 100;
/** How long etcd may take to check a password, ms: it makes it slow on purpose. */
const CHECK = 4000;

/** What a call is like. */
export interface AskOptions {
  /** Whether it may be done twice. @default true */
  readonly repeatable?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** A call on its way. */
interface PendingCall<In, Out> {
  readonly method: Method<In, Out>;
  readonly bytes: Buffer;
  readonly deadline: number;
  readonly repeatable: boolean;
  readonly signal: AbortSignal | undefined;
}

/** All members, of which one is used until it fails; and who we are to them. */
export class Members implements Disposable {
  readonly name: string;
  /** Told of a member that is not used any more. */
  onleave: ((member: Member) => void) | undefined;
  readonly #members: readonly Member[];
  readonly #login: Login;
  readonly #closed = new AbortController();
  #current: number;

  constructor(settings: Settings) {
    this.name = settings.name;
    this.#login = new Login(settings.login);
    this.#members = settings.addresses.map((address) => new Member(address, settings));
    for (const member of this.#members) member.onhang = () => this.leave(member);
    this.#current = Math.floor(Math.random() * this.#members.length); // of many stores each member has its share
  }

  /** Aborts when the store is closed. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** The member to use now. */
  get current(): Member {
    return this.#members[this.#current] as Member;
  }

  /** Uses another member from now on, where there is one. */
  leave(member: Member): void {
    if (this.current !== member || this.#members.length === 1) return;
    this.#current = (this.#current + 1) % this.#members.length;
    this.onleave?.(member);
  }

  /**
   * Asks until there is an answer, a reason to stop, or no time left.
   *
   * @throws StoreError, or the signal's reason
   */
  ask<In, Out>(method: Method<In, Out>, message: In, options: AskOptions = {}): Promise<Out> {
    const { repeatable = true, signal } = options;
    const bytes = method.encode(message); // now: whoever asks may go on to change what it gave us
    return this.#ask({ method, bytes, deadline: performance.now() + DEADLINE, repeatable, signal });
  }

  /** Opens a stream to a member. Throws as {@link ask} does, when there is no connection or no token. */
  async stream<In, Out>(method: Method<In, Out>, member: Member): Promise<ClientDuplexStream<In, Out>> {
    if (!member.connected) await member.connect(performance.now() + ATTEMPT);
    return member.stream(method, await this.#login.metadata(member));
  }

  /** Asks a certain member, once. */
  async askOne<In, Out>(method: Method<In, Out>, message: In, member: Member): Promise<Out> {
    const metadata = await this.#login.metadata(member);
    const options = { metadata, deadline: performance.now() + ATTEMPT, signal: undefined };
    return member.call(method, method.encode(message), options);
  }

  /** Takes the token that streams are opened with for used up. */
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
      if (found.is === "answer") return found.answer;
      const { error } = found;
      if (found.is === "lost" && !repeatable) throw unknown(error);
      if (this.closed.aborted) throw StoreError.closed(this.name);
      if (found.is === "refused") refusal = error;
      if (found.is === "final") throw error;
      if (performance.now() >= deadline) throw refusal ?? error; // which says more than that the time is over
      if (found.is === "token") {
        if (tokens++ > 0) throw error;
        continue;
      }
      this.leave(member);
      if (failures++ % this.#members.length === 0) await this.pause(PAUSE);
    }
  }

  /** Waits, but not beyond the end of the store. */
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
      if (this.closed.aborted) throw StoreError.closed(this.name); // nothing was sent
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

/** What goes with every call: our token, and that a member without a leader is to say so instead of waiting. */
class Login {
  readonly #as: Settings["login"];
  #metadata: Promise<Metadata> | undefined;

  constructor(as: Settings["login"]) {
    this.#as = as;
  }

  /** @throws Refused when a token cannot be had now; `ServiceError` when etcd gives us none */
  metadata(member: Member): Promise<Metadata> {
    if (this.#metadata === undefined) {
      const made = this.#authenticate(member);
      this.#metadata = made;
      made.catch(() => this.forget(made));
    }
    return this.#metadata;
  }

  /** Takes a token for used up, so that the next call gets another. */
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
      // etcd without users: whoever can reach it may do everything.
      if (!/authentication is not enabled/.test(text)) throw new Refused(`login: ${text}`);
    }
    return metadata;
  }
}
