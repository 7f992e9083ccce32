import { dnsLabelProblems, nameProblems } from "@virtual-workspaces/apimachinery";
import { CelError } from "../values/formatted.ts";
import type { FunctionSpec } from "./signature.ts";

/** Access that an expression asks about. */
export interface AccessCheck {
  readonly verb: string;
  /** Path of a request that is for no resource; empty for a resource. */
  readonly path: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** Service account in place of the requester. */
  readonly serviceAccount: { readonly namespace: string; readonly name: string } | undefined;
}

/** Answer to an {@link AccessCheck}. */
export interface AccessAnswer {
  readonly allowed: boolean;
  readonly reason: string;
  /** Error of the check; empty without any. */
  readonly error: string;
}

/** Resource of the request, for `authorizer.requestResource`. */
export type RequestResource = Pick<AccessCheck, "group" | "resource" | "subresource" | "namespace" | "name">;

type Ask = (check: AccessCheck) => AccessAnswer;

const NOTHING: Omit<AccessCheck, "verb" | "serviceAccount"> = {
  ...{ path: "", group: "", resource: "", subresource: "", namespace: "", name: "" },
};

/** Value of the variable `authorizer` of Kubernetes' expressions. */
export class AuthorizerValue {
  readonly ask: Ask;
  readonly account: AccessCheck["serviceAccount"];
  /** Named as in expressions. */
  readonly requestResource: ResourceCheck;

  /** @param ask answers at once; what it throws ends the evaluation */
  constructor(ask: Ask, request: RequestResource, account?: AccessCheck["serviceAccount"]) {
    this.ask = ask;
    this.account = account;
    this.requestResource = new ResourceCheck(this, request);
  }
}

/** Check of access to a path. */
export class PathCheck {
  readonly of: AuthorizerValue;
  readonly path: string;

  constructor(of: AuthorizerValue, path: string) {
    this.of = of;
    this.path = path;
  }
}

/** API group of a check. */
export class GroupCheck {
  readonly of: AuthorizerValue;
  readonly group: string;

  constructor(of: AuthorizerValue, group: string) {
    this.of = of;
    this.group = group;
  }
}

/** Check of access to a resource. */
export class ResourceCheck {
  readonly of: AuthorizerValue;
  readonly parts: Partial<RequestResource>;

  constructor(of: AuthorizerValue, parts: Partial<RequestResource>) {
    this.of = of;
    this.parts = parts;
  }

  with(parts: Partial<RequestResource>): ResourceCheck {
    return new ResourceCheck(this.of, { ...this.parts, ...parts });
  }
}

/** Decision of a check. */
export class DecisionValue {
  readonly answer: AccessAnswer;

  constructor(answer: AccessAnswer) {
    this.answer = answer;
  }
}

/** Kubernetes' authorizer library. Selectors do not change a decision here: RBAC ignores them. */
export const AUTHORIZER: readonly FunctionSpec[] = [
  [
    ".path(authorizer, string) pathCheck",
    (of: AuthorizerValue, path: string) => new PathCheck(of, filled(path, "path")),
  ],
  [".group(authorizer, string) groupCheck", (of: AuthorizerValue, group: string) => new GroupCheck(of, group)],
  [".serviceAccount(authorizer, string, string) authorizer", serviceAccount],
  [
    ".resource(groupCheck, string) resourceCheck",
    ({ of, group }: GroupCheck, resource: string) =>
      new ResourceCheck(of, { group, resource: filled(resource, "resource") }),
  ],
  [
    ".subresource(resourceCheck, string) resourceCheck",
    (of: ResourceCheck, subresource: string) => of.with({ subresource }),
  ],
  [".namespace(resourceCheck, string) resourceCheck", (of: ResourceCheck, namespace: string) => of.with({ namespace })],
  [".name(resourceCheck, string) resourceCheck", (of: ResourceCheck, name: string) => of.with({ name })],
  [".fieldSelector(resourceCheck, string) resourceCheck", (of: ResourceCheck) => of],
  [".labelSelector(resourceCheck, string) resourceCheck", (of: ResourceCheck) => of],
  [".check(pathCheck, string) decision", ({ of, path }: PathCheck, verb: string) => decided(of, { path }, verb)],
  [".check(resourceCheck, string) decision", ({ of, parts }: ResourceCheck, verb: string) => decided(of, parts, verb)],
  [".allowed(decision) bool", ({ answer }: DecisionValue) => answer.allowed],
  [".reason(decision) string", ({ answer }: DecisionValue) => answer.reason],
  [".errored(decision) bool", ({ answer }: DecisionValue) => answer.error !== ""],
  [".error(decision) string", ({ answer }: DecisionValue) => answer.error],
];

function filled(text: string, what: string): string {
  if (text.trim() === "") throw new CelError(`${what} must not be empty`);
  return text;
}

function serviceAccount(of: AuthorizerValue, namespace: string, name: string): AuthorizerValue {
  if (nameProblems(name).length > 0) throw new CelError("Invalid service account name");
  if (dnsLabelProblems(namespace).length > 0) throw new CelError("Invalid service account namespace");
  const { parts } = of.requestResource;
  return new AuthorizerValue(of.ask, { ...NOTHING, ...parts }, { namespace, name });
}

function decided({ ask, account }: AuthorizerValue, parts: Partial<AccessCheck>, verb: string): DecisionValue {
  return new DecisionValue(ask({ ...NOTHING, ...parts, verb, serviceAccount: account }));
}
