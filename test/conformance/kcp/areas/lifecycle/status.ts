// Permitted changes to the status of a waiting LogicalCluster: conditions, and the removal of the owner's own entry.
import { get, merge } from "../../api.ts";
import { type Cases, CLUSTER, oneOf, type Phase, shared, typed, waiting } from "../../lifecycle.ts";
import type { Ask } from "../../step.ts";

const OWN = "$(ws):setup";
const OTHER = "$(ws):other";
const CONDITION = { type: "Prepared", status: "False", lastTransitionTime: "2020-01-01T00:00:00Z", message: "soon" };
/** Statuses with a wrong removal of the owner's entry. Each could be the last state of the object that a client sees. */
const otherwise = ({ member }: Phase): Readonly<Record<string, unknown>> => ({
  "another in place of another's": { [member]: [OWN, "root:third"] },
  "another in place of one's own": { [member]: ["root:third", OTHER] },
  "in another order": { [member]: [OTHER, OWN] },
  "one's own twice": { [member]: [OWN, OWN] },
  "another's twice": { [member]: [OTHER, OTHER] },
  "a number": { [member]: [1, OTHER] },
  "a text": { [member]: OWN },
  "an object": { [member]: {} },
  "no list": { [member]: null },
  "no status": null,
});
/** Other fields of the status. */
const BESIDES = { phase: { phase: "Ready" }, URL: { URL: "https://example.dev" } };

const put = (path: string, body: unknown, more: Partial<Ask> = {}): Ask => ({ send: `PUT ${path}`, body, ...more });
const patch = (path: string, [type, body]: readonly [string, unknown], more: Partial<Ask> = {}): Ask => ({
  ...{ send: `PATCH ${path}`, headers: { "content-type": `application/${type}` }, body },
  ...more,
});

export const status = (phase: Phase): Cases => {
  const at = `${oneOf(phase)}${CLUSTER}/status`;
  const other = phase.is === "initializing" ? "terminators" : "initializers";
  const told = { tell: ["kind", `status.${phase.member}`, "status.phase"] };
  const whole = (members: object, more: object = {}) => ({
    ...{ apiVersion: "core.kcp.io/v1alpha1", kind: "LogicalCluster" },
    metadata: { name: "cluster", resourceVersion: "$(it.metadata.resourceVersion)", ...more },
    status: members,
  });
  const wants = (...members: readonly unknown[]): Ask => merge(at, { status: { [phase.member]: members } }, told);
  return {
    "by several": [
      ...shared(phase),
      get(at, { tell: ["kind", "status.phase", `status.${phase.member}`], as: "it" }),
      wants(OWN),
      wants(),
      wants(OWN, OTHER, "root:third"),
      merge(`${at}?dryRun=All`, { status: { [phase.member]: [OTHER] } }, told),
      patch(at, ["json-patch+json", [{ op: "remove", path: `/status/${phase.member}/1` }]]),
      patch(at, ["json-patch+json", [{ op: "test", path: `/status/${phase.member}/0`, value: "x" }]]),
      patch(at, ["strategic-merge-patch+json", { status: {} }]),
      patch(at, ["nothing", { status: {} }]),
      get(at, told),
      patch(at, ["json-patch+json", [{ op: "remove", path: `/status/${phase.member}/0` }]], told),
      get(at, { until: { code: 404 } }),
      merge(at, { status: { conditions: [] } }),
      merge(`${oneOf(phase, "other")}${CLUSTER}/status`, { status: { [phase.member]: [OWN, OTHER] } }),
      merge(`${oneOf(phase, "other")}${CLUSTER}/status`, { status: { [phase.member]: [] } }, told),
    ],
    "of conditions": [
      ...typed(phase),
      ...waiting(phase),
      merge(at, { status: { conditions: [CONDITION] } }, { tell: ["status.conditions.type"] }),
      merge(at, { status: { conditions: [{ type: "Prepared" }] } }),
      merge(at, { status: { conditions: "x" } }),
      merge(at, { status: { nothing: 1 } }, { tell: ["status.nothing"] }),
      merge(`${at}?fieldValidation=Strict`, { status: { nothing: 1 } }, { tell: ["status.nothing"] }),
      merge(at, { status: { phase: "Nothing" } }, told),
      merge(at, { spec: { directlyDeletable: true, createdBy: { username: "bob" } } }, { tell: ["kind", "spec"] }),
      merge(at, { metadata: { labels: { a: "b" }, annotations: { a: "b" } } }, { tell: ["metadata.labels.a"] }),
      merge(at, { metadata: { finalizers: ["example.dev/x"] } }, { tell: ["kind"] }),
      merge(at, { metadata: { name: "other" } }),
      merge(at, []),
      get(at, { tell: ["metadata.labels", "metadata.finalizers", "spec.directlyDeletable"] }),
    ],
    "as a whole": [
      ...typed(phase),
      ...waiting(phase),
      get(at, { tell: ["kind"], as: "it" }),
      put(at, { ...whole({ [phase.member]: [] }), metadata: { name: "other" } }),
      put(`${at}?dryRun=All`, { ...whole({ [phase.member]: [] }), kind: "Other" }, told),
      put(at, { ...whole({ [phase.member]: [] }), apiVersion: "core.kcp.io/v9" }),
      put(at, { metadata: { name: "cluster" } }),
      { send: `PUT ${at}`, text: "{" },
      { send: `PUT ${at}`, text: "" },
      { send: `PUT ${at}`, text: "x", headers: { "content-type": "text/plain" } },
      put(at, { ...whole({ [phase.member]: [] }), metadata: { name: "cluster", resourceVersion: "1" } }),
      put(at, { ...whole({ [phase.member]: [] }), metadata: { name: "cluster", uid: "x" } }),
      put(at, { ...whole({ [phase.member]: [], phase: "Ready" }), metadata: { name: "cluster" } }, told),
      put(`${oneOf(phase)}${CLUSTER}`, whole({ [phase.member]: [] })),
      put(at, whole({ [phase.member]: [OWN] }), told),
    ],
    ...Object.fromEntries(
      Object.entries(otherwise(phase)).map(([name, value]) => [
        name,
        [...shared(phase), merge(at, { status: value }, told)],
      ]),
    ),
    ...Object.fromEntries(
      Object.entries({ ...BESIDES, [other]: { [other]: ["root:third"] } }).map(([name, members]) => [
        `${name} besides`,
        [...typed(phase), ...waiting(phase), merge(at, { status: members }, { tell: ["kind", "status"] })],
      ]),
    ),
    applied: [
      ...typed(phase),
      ...waiting(phase),
      get(at, { tell: ["kind"], as: "it" }),
      patch(`${at}?fieldManager=one`, ["apply-patch+yaml", applied({ conditions: [CONDITION] })], {
        tell: ["kind", "status.conditions.type"],
      }),
      patch(`${at}?fieldManager=one`, ["apply-patch+yaml", applied({ [phase.member]: [] })], told),
      patch(`${at}?fieldManager=one&force=true`, ["apply-patch+yaml", applied({ [phase.member]: ["root:x"] })], told),
      patch(at, ["apply-patch+yaml", applied({})]),
    ],
  };
};

function applied(members: object): object {
  return {
    ...{ apiVersion: "core.kcp.io/v1alpha1", kind: "LogicalCluster", metadata: { name: "cluster" } },
    status: members,
  };
}
