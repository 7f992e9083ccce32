import { type ImpersonationMode, onOf } from "../authn/constrained-impersonation.ts";
import { type Impersonation, impersonatedUser } from "../authn/headers.ts";
import { type Decision, decide, deny, type ImpersonationRequest } from "../authz/authorization.ts";
import type { AuthenticatedExchange } from "../exchange.ts";
import { AuthorizeQuestion, HookRequest } from "../hooks/hooks.ts";
import type { RequestInfo } from "../request/request-info.ts";
import { AUTHENTICATED, UNAUTHENTICATED, type User } from "../request/user.ts";
import type { Awaitable } from "../util/awaitable.ts";
import { enforce } from "./authorize.ts";

/** Impersonates the caller of a server that acts for it, and may act for any user. */
export function act(exchange: AuthenticatedExchange, caller: User): void | Promise<void> {
  const isComplete = caller.in(AUTHENTICATED) || caller.in(UNAUTHENTICATED);
  const settled = confined(exchange, isComplete ? caller : impersonatedUser(caller));
  exchange.impersonator = exchange.user;
  if (!(settled instanceof Promise)) {
    exchange.user = settled;
    return;
  }
  return settled.then((late) => {
    exchange.user = late;
  });
}

/** Impersonates the user that the headers name. Sends one authorization request after the other. Synchronous while the rule is. */
export function become(exchange: AuthenticatedExchange): void | Promise<void> {
  const impersonation = exchange.core.impersonations.of(exchange.req.rawHeaders);
  if (impersonation === undefined) return undefined;
  const settled = confined(exchange, impersonation.user);
  if (settled instanceof Promise) return settled.then((user) => becomeAs(exchange, impersonation, user));
  return becomeAs(exchange, impersonation, settled);
}

function becomeAs(exchange: AuthenticatedExchange, impersonation: Impersonation, settled: User): void | Promise<void> {
  const chosen = constrained(exchange, impersonation);
  if (chosen instanceof Promise)
    return chosen.then((late) => becomeBy(exchange, { impersonation, settled, chosen: late }));
  return becomeBy(exchange, { impersonation, settled, chosen });
}

interface Chosen {
  readonly impersonation: Impersonation;
  /** User of the whole impersonation. */
  readonly settled: User;
  readonly chosen: Constrained;
}

function becomeBy(exchange: AuthenticatedExchange, by: Chosen): void | Promise<void> {
  const { impersonation, settled, chosen } = by;
  const { mode, denial } = chosen;
  if (mode !== undefined) {
    const user = mode.user === impersonation.user ? settled : confined(exchange, mode.user);
    if (user instanceof Promise) return user.then((late) => acting(exchange, late, mode));
    return acting(exchange, user, mode);
  }
  const finish = (denied: Denied | undefined): void => {
    if (denied !== undefined) {
      // Kubernetes reports the first mode that it tried.
      const { question, decision } = denial ?? denied;
      enforce(exchange, question, decision);
    }
    acting(exchange, settled, undefined);
  };
  const denied = firstDenied(exchange, impersonation.questions);
  return denied instanceof Promise ? denied.then(finish) : finish(denied);
}

function acting(exchange: AuthenticatedExchange, user: User, mode: ImpersonationMode | undefined): void {
  exchange.decision = undefined; // that decision was about impersonation, not the request
  exchange.impersonator = exchange.user;
  exchange.impersonationConstraint = mode?.verb;
  exchange.user = user;
}

interface Denied {
  readonly question: RequestInfo;
  readonly decision: Decision;
}

interface Constrained {
  readonly mode?: ImpersonationMode;
  readonly denial?: Denied | undefined;
}

const UNCONSTRAINED: Constrained = {};

/** Returns the first constrained mode that the caller may use, or the denial of the first one that applies. */
function constrained(exchange: AuthenticatedExchange, impersonation: Impersonation): Awaitable<Constrained> {
  const { impersonation: rule, impersonations } = exchange.core;
  if (rule.constrained !== true) return UNCONSTRAINED;
  const modes = impersonations.modes(impersonation, exchange.user);
  const from = (at: number, first: Denied | undefined): Awaitable<Constrained> => {
    let denial = first;
    for (let each = at; each < modes.length; each++) {
      const mode = modes[each] as ImpersonationMode;
      const denied = deniedMode(exchange, mode);
      if (denied instanceof Promise)
        return denied.then((late) => (late === undefined ? { mode } : from(each + 1, denial ?? late)));
      if (denied === undefined) return { mode };
      denial ??= denied;
    }
    return denial === undefined ? UNCONSTRAINED : { denial };
  };
  return from(0, undefined);
}

function deniedMode(exchange: AuthenticatedExchange, mode: ImpersonationMode): Awaitable<Denied | undefined> {
  const then = (denied: Denied | undefined): Awaitable<Denied | undefined> => denied ?? deniedParts(exchange, mode);
  const denied = firstDenied(exchange, [onOf(mode, exchange.info)]);
  return denied instanceof Promise ? denied.then(then) : then(denied);
}

function deniedParts(
  exchange: AuthenticatedExchange,
  { forbidden, parts }: ImpersonationMode,
): Awaitable<Denied | undefined> {
  if (forbidden !== undefined) return { question: forbidden.question, decision: deny(forbidden.reason) };
  const from = (at: number): Awaitable<Denied | undefined> => {
    for (let each = at; each < parts.length; each++) {
      const denied = deniedAlternatives(exchange, parts[each] ?? []);
      if (denied instanceof Promise) return denied.then((late) => late ?? from(each + 1));
      if (denied !== undefined) return denied;
    }
    return undefined;
  };
  return from(0);
}

/** Returns the denial of the last alternative, if none is allowed. */
function deniedAlternatives(
  exchange: AuthenticatedExchange,
  alternatives: ImpersonationMode["parts"][number],
): Awaitable<Denied | undefined> {
  const from = (at: number, last: Denied | undefined): Awaitable<Denied | undefined> => {
    let denial = last;
    for (let each = at; each < alternatives.length; each++) {
      const denied = firstDenied(exchange, alternatives[each] ?? []);
      if (denied instanceof Promise)
        return denied.then((late) => (late === undefined ? undefined : from(each + 1, late)));
      if (denied === undefined) return undefined;
      denial = denied;
    }
    return denial;
  };
  return from(0, undefined);
}

/** Returns the first authorization request that the server's rule denies. */
function firstDenied(
  exchange: AuthenticatedExchange,
  questions: readonly RequestInfo[],
  from = 0,
): Awaitable<Denied | undefined> {
  for (let at = from; at < questions.length; at++) {
    const question = questions[at] as RequestInfo;
    const decision = decide(exchange.core.impersonation, new AuthorizeQuestion(exchange, question));
    if (decision instanceof Promise)
      return decision.then((late) =>
        late.allowed ? firstDenied(exchange, questions, at + 1) : { question, decision: late },
      );
    if (!decision.allowed) return { question, decision };
  }
  return undefined;
}

/** Returns the impersonated user as the rule adjusts it. */
function confined(exchange: AuthenticatedExchange, impersonated: User): Awaitable<User> {
  const { become } = exchange.core.impersonation;
  if (become === undefined) return impersonated;
  const user = become(new BecomeRequest(exchange, impersonated));
  // Security: a promise of another implementation is no user either.
  return "then" in user ? Promise.resolve(user) : user;
}

/** Argument of a rule's `become`. */
class BecomeRequest extends HookRequest implements ImpersonationRequest {
  readonly impersonated: User;

  constructor(exchange: AuthenticatedExchange, impersonated: User) {
    super(exchange);
    this.impersonated = impersonated;
  }
}
