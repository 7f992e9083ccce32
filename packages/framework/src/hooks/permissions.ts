import { ApiError, isApiError } from "@virtual-workspaces/apimachinery";
import { timerDelay } from "@virtual-workspaces/transport";
import { type Authorizer, connecting, decide } from "../authz/authorization.ts";
import type { Log } from "../observe/log/log.ts";
import type { RequestInfo } from "../request/request-info.ts";
import type { User } from "../request/user.ts";
import { type Asker, AuthorizeQuestion, type WatchingRequest } from "./hooks.ts";

/** The shortest that a rule may ask for, ms: one that says 0 would be asked without end. */
const SHORTEST = 100;

type Fail = (error: ApiError) => void;

/** Open watches about which a rule would be asked the same: it is asked once for all of them. */
class Question implements Asker {
  readonly params: Readonly<Record<string, string>>;
  readonly user: User;
  readonly open = new Set<Fail>();
  readonly #name: string;
  readonly #authorize: Authorizer;
  readonly #info: RequestInfo;
  readonly #log: Log;
  readonly #over = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor({ mounted, params, user, info }: WatchingRequest, log: Log) {
    this.params = params;
    this.user = user;
    this.#name = mounted.name;
    this.#authorize = mounted.workspace.authorize;
    this.#info = info;
    this.#log = log;
    this.#wait();
  }

  /** Of the question: the request that opened its first watch may be long gone. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#over.abort();
  }

  #wait(): void {
    const every = Math.max(SHORTEST, this.#authorize.watchesEvery ?? Number.POSITIVE_INFINITY);
    this.#timer = setTimeout(() => void this.#ask(), timerDelay(every)).unref();
  }

  async #ask(): Promise<void> {
    try {
      if (!(await this.#allowed())) for (const fail of [...this.open]) fail(ApiError.expired(ENDED));
    } catch (error) {
      // An ApiError is what a rule has to say, "not now" for one; anything else is a fault of the rule's.
      if (!this.signal.aborted && !isApiError(error))
        this.#log({
          level: "error",
          message: "rule failed about open watches",
          virtualWorkspace: this.#name,
          error: String(error),
        });
    }
    if (!this.signal.aborted) this.#wait();
  }

  /** All that was asked before it was opened. */
  async #allowed(): Promise<boolean> {
    for (const info of [this.#info, connecting(this.#info)])
      if (info !== undefined && !(await decide(this.#authorize, new AuthorizeQuestion(this, info))).allowed)
        return false;
    return true;
  }
}

const ENDED = "it is not certain any more that this may be watched: list again";
const NOTHING_TO_DO: Disposable = { [Symbol.dispose]: () => undefined };

/** Ends watches that their view's rule does not allow any more, where the rule wants to be asked again. */
export class Permissions implements Disposable {
  readonly #questions = new Map<string, Question>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  add(request: WatchingRequest, fail: Fail): Disposable {
    const { mounted, params, user, info } = request;
    const { watchesEvery = Number.POSITIVE_INFINITY } = mounted.workspace.authorize;
    if (watchesEvery === Number.POSITIVE_INFINITY) return NOTHING_TO_DO;
    const key = JSON.stringify([mounted.name, params, user, info]);
    const question = this.#questions.get(key) ?? new Question(request, this.#log);
    this.#questions.set(key, question);
    const own: Fail = (error) => fail(error);
    question.open.add(own);
    return {
      [Symbol.dispose]: () => {
        question.open.delete(own);
        if (question.open.size > 0) return;
        question.end();
        if (this.#questions.get(key) === question) this.#questions.delete(key);
      },
    };
  }

  [Symbol.dispose](): void {
    for (const question of this.#questions.values()) question.end();
    this.#questions.clear();
  }
}
