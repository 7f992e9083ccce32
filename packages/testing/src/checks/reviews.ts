import { excerpt, expectStatus, fail, skip } from "../assertions/expect.ts";
import { at, listAt, textAt } from "../assertions/json.ts";
import type { Answer } from "../http/answer.ts";
import { ABSENT } from "../probe/collection-probe.ts";
import type { ServerProbe } from "../probe/server-probe.ts";
import { askReview, type ReviewKind, readReview } from "../probe/users.ts";
import type { Check, ResourceProbe } from "./check.ts";

const INVALID = { codes: [422, 400], reasons: ["Invalid", "BadRequest"] };
const NAMESPACE = "default";

/** T20: access reviews agree with the answers to requests. */
export const reviewChecks: readonly Check[] = [
  {
    id: "T20.1",
    title: "a SelfSubjectAccessReview allows a list exactly when the list is not 403",
    protects: "kubectl auth can-i and UIs promise forbidden actions, or hide allowed ones",
    scope: "resource",
    verbs: ["list"],
    evenUnlistable: true,
    run: async (probe) => {
      const allowed = await allows(probe, { verb: "list" });
      expectAgreement(await probe.answer({ limit: 1 }), allowed);
    },
  },
  {
    id: "T20.2",
    title: "a SelfSubjectAccessReview allows a get exactly when the get is not 403, also of a missing object",
    protects: "kubectl auth can-i and UIs promise forbidden actions, or hide allowed ones",
    scope: "resource",
    verbs: ["get"],
    evenUnlistable: true,
    run: async (probe) => {
      const allowed = await allows(probe, { verb: "get", name: ABSENT, ...inNamespace(probe) });
      expectAgreement(await probe.get(probe.absentPath), allowed);
    },
  },
  {
    id: "T20.3",
    title: "a complete SelfSubjectRulesReview has a rule for list exactly when an access review allows it",
    protects: "kubectl auth can-i --list and UIs show wrong permissions",
    scope: "resource",
    verbs: ["list"],
    evenUnlistable: true,
    run: async (probe) => {
      const answer = await asked(probe, "SelfSubjectRulesReview", { namespace: NAMESPACE });
      const review = readReview(answer);
      if (at(review, "status", "incomplete") === true) skip("the rules review is marked incomplete");
      const listed = listAt(review, "status", "resourceRules").some((rule) => allowsList(rule, probe));
      const allowed = await allows(probe, { verb: "list", ...inNamespace(probe) });
      // Rules of a namespace may name cluster-scoped resources; they then grant nothing.
      if (listed === allowed || (listed && !probe.resource.namespaced)) return;
      const expected = allowed ? `a rule for list on ${probe.name}` : `no rule for list on ${probe.name}`;
      fail(answer.request, `${expected}, as in the access review`, excerpt(answer));
    },
  },
  {
    id: "T20.4",
    title: "an access review with no attributes, or with both kinds of attributes, gets 422",
    protects: "a misspelled review is answered as if it were another one",
    scope: "server",
    run: async (probe) => {
      const resourceAttributes = { verb: "list", group: "", version: "v1", resource: "pods" };
      const nonResourceAttributes = { verb: "get", path: "/version" };
      readReview(await asked(probe, "SelfSubjectAccessReview", { nonResourceAttributes }));
      for (const spec of [{}, { resourceAttributes, nonResourceAttributes }])
        expectStatus(await asked(probe, "SelfSubjectAccessReview", spec), INVALID);
    },
  },
];

function asked(probe: ServerProbe, kind: ReviewKind, spec: object): Promise<Answer> {
  return askReview((path, options) => probe.get(path, options), kind, { spec });
}

/** Returns the namespace in which objects are looked up, for namespaced resources. */
function inNamespace({ resource }: ResourceProbe): { readonly namespace?: string } {
  return resource.namespaced ? { namespace: NAMESPACE } : {};
}

/** Returns what an access review answers for a request to the resource of a probe. */
async function allows(
  probe: ResourceProbe,
  attributes: { readonly verb: string; readonly namespace?: string; readonly name?: string },
): Promise<boolean> {
  const { group, version, name: resource } = probe.resource;
  const resourceAttributes = { group, version, resource, ...attributes };
  const answer = await asked(probe, "SelfSubjectAccessReview", { resourceAttributes });
  const review = readReview(answer);
  const allowed = at(review, "status", "allowed");
  if (typeof allowed !== "boolean") fail(answer.request, "true or false at status.allowed", excerpt(answer));
  const error = textAt(review, "status", "evaluationError");
  if (!allowed && error !== "") skip(`the review could not be evaluated: ${error}`);
  return allowed;
}

function expectAgreement(answer: Answer, allowed: boolean): void {
  if (allowed === (answer.status !== 403)) return;
  const expected = allowed ? "an answer other than 403" : "403";
  fail(answer.request, `${expected}, as in the access review`, excerpt(answer));
}

/** Returns whether a rule allows listing all objects of a resource. */
function allowsList(rule: unknown, { resource: { group, name } }: ResourceProbe): boolean {
  const has = (field: string, value: string): boolean =>
    listAt(rule, field).some((one) => one === value || one === "*");
  return (
    listAt(rule, "resourceNames").length === 0 &&
    has("verbs", "list") &&
    has("apiGroups", group) &&
    has("resources", name)
  );
}
