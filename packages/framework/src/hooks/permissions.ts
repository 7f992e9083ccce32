import { ApiError, isApiError } from "@virtual-workspaces/apimachinery";
import { timerDelay } from "@virtual-workspaces/transport";
import { type Authorizer, connecting, decide } from "../authz/authorization.ts";
import type { Log } from "../observe/log/log.ts";
import type { RequestInfo } from "../request/request-info.ts";
import type { User } from "../request/user.ts";
import { type Asker, AuthorizeQuestion, type WatchingRequest } from "./hooks.ts";

/** Shortest interval of a rule, ms: an interval of 0 would call the rule in a loop. */
const SHORTEST = 100;

type Fail = (error: ApiError) => void;

/** Open watches with the same authorization attributes: one call of the rule covers all of them. */
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

  /** Signal of the group: the request that opened its first watch may have ended. */
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
      // An ApiError is a decision of the rule, such as "not now"; any other exception is a bug of the rule.
      if (!this.signal.aborted && !isApiError(error))
        this.#log({
          level: "error",
          message: "rule failed for open watches",
          virtualWorkspace: this.#name,
          error: String(error),
        });
    }
    if (!this.signal.aborted) this.#wait();
  }

  /** Repeats all authorization checks made when the watch was opened. */
  async #allowed(): Promise<boolean> {
    for (const info of [this.#info, connecting(this.#info)])
      if (info !== undefined && !(await decide(this.#authorize, new AuthorizeQuestion(this, info))).allowed)
        return false;
    return true;
  }
}

const ENDED = "permission to watch could not be confirmed: list again";
const NOTHING_TO_DO: Disposable = { [Symbol.dispose]: () => undefined };

/** Ends watches that their view's rule no longer allows, where the rule asks for revalidation. */
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
