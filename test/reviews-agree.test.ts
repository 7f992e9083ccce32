// Reviews agree with requests, for every example and every built-in authorizer: a request gets 403 exactly when a review
// denies it, and a rules review lists exactly what requests may do.
import { globSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  type Authorizer,
  allow,
  authenticated,
  defineResource,
  defineVirtualWorkspace,
  deny,
  groups,
  readOnly,
  staticTokens,
  union,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { type NonResourceRule, type ResourceRule, rbac } from "@virtual-workspaces/framework/authz";
import { type Host, memoryStore } from "@virtual-workspaces/store";
import { expect } from "chai";
import { unionOf } from "../packages/cli/src/dev/union.ts";
import { root } from "../tools/install.mjs";
import { type PlainServer, startPlain } from "./_support/plain.ts";

const USERS = ["alice", "admin", "bob"] as const;
type User = (typeof USERS)[number];
const AUTHENTICATION = [
  staticTokens({
    alice: { name: "alice" },
    admin: { name: "admin", groups: ["system:masters"] },
    bob: { name: "bob" },
  }),
];

/** Request with the attributes of its review. */
interface Case {
  readonly call: `${string} /${string}`;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly attributes: Attributes;
}

interface Attributes {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

const PATCH = { "content-type": "application/merge-patch+json" };
/** Requests for each verb. Their bodies are rejected after authorization, so that nothing changes. */
const ASK: Readonly<
  Record<
    string,
    Pick<Case, "body" | "headers"> & { readonly method: string; readonly named: boolean; readonly query?: string }
  >
> = {
  get: { method: "GET", named: true },
  list: { method: "GET", named: false },
  watch: { method: "GET", named: false, query: "watch=true&timeoutSeconds=1&resourceVersion=nonsense" },
  create: { method: "POST", named: false, body: {} },
  update: { method: "PUT", named: true, body: {} },
  patch: { method: "PATCH", named: true, body: [] as object, headers: PATCH },
  delete: { method: "DELETE", named: true, query: "dryRun=nonsense" },
  deletecollection: { method: "DELETE", named: false, query: "dryRun=nonsense" },
};

interface Advertised {
  readonly name: string;
  readonly namespaced: boolean;
}

function casesOf({ name: full, namespaced }: Advertised, group: string, version: string): Case[] {
  const [resource = "", subresource = ""] = full.split("/");
  const places = namespaced ? ["default", "attic"] : [""];
  const verbs = subresource === "" ? Object.keys(ASK) : ["get", "update", "patch"];
  return places.flatMap((namespace) =>
    verbs.flatMap((verb) =>
      ["a", "menu"].map((name): Case => {
        const { method, named, query = "", body, headers } = ASK[verb] as (typeof ASK)[string];
        const path = [
          group === "" ? `/api/${version}` : `/apis/${group}/${version}`,
          ...(namespace === "" ? [] : [`namespaces/${namespace}`]),
          resource,
          ...(named ? [name] : []),
          ...(subresource === "" ? [] : [subresource]),
        ].join("/");
        return {
          call: `${method} ${path}?${query}` as Case["call"],
          ...(body === undefined ? {} : { body }),
          ...(headers === undefined ? {} : { headers }),
          attributes: { verb, group, resource, subresource, namespace, ...(named ? { name } : {}) },
        };
      }),
    ),
  );
}

class Asker {
  readonly #server: PlainServer;
  readonly #base: string;

  constructor(server: PlainServer, { name }: VirtualWorkspace) {
    this.#server = server;
    this.#base = `/services/${name}/clusters/root`;
  }

  /** Returns whether the answer is not 403. */
  async request(user: User, { call, body, headers = {} }: Omit<Case, "attributes">): Promise<boolean> {
    const [method, path] = call.split(" ");
    const { status, text } = await this.#server.send(`${method} ${this.#base}${path}` as "GET /", body, {
      user,
      headers,
    });
    expect(status, `${call}: ${text}`).to.be.within(200, 499);
    return status !== 403;
  }

  async review(user: User, spec: object): Promise<boolean> {
    const { status } = await this.#reviewed(user, "SelfSubjectAccessReview", spec);
    expect(status.evaluationError).to.equal(undefined);
    return status.allowed;
  }

  async rules(
    user: User,
    namespace: string,
  ): Promise<{ resourceRules: ResourceRule[]; nonResourceRules: NonResourceRule[] }> {
    return (await this.#reviewed(user, "SelfSubjectRulesReview", { namespace })).status;
  }

  async #reviewed(user: User, kind: string, spec: object) {
    const path = `${this.#base}/apis/authorization.k8s.io/v1/${kind.toLowerCase()}s` as "/x";
    const answer = await this.#server.send(
      `POST ${path}`,
      { apiVersion: "authorization.k8s.io/v1", kind, spec },
      { user },
    );
    expect(answer.status, answer.text).to.equal(201);
    return answer.body;
  }

  /** Returns the requests for all resources that the admin finds. */
  async cases(): Promise<Case[]> {
    const groups = (await this.#server.get(`${this.#base}/apis`, { user: "admin" })).body.groups ?? [];
    const found: Case[] = [];
    for (const { name, preferredVersion } of groups as { name: string; preferredVersion: { version: string } }[]) {
      const { version } = preferredVersion;
      const { body } = await this.#server.get(`${this.#base}/apis/${name}/${version}`, { user: "admin" });
      found.push(...(body.resources as Advertised[]).flatMap((one) => casesOf(one, name, version)));
    }
    return found;
  }
}

const PATHS = ["/apis", "/api", "/version", "/openapi/v2", "/nothing"];

async function agree(view: VirtualWorkspace): Promise<number> {
  await using server = await startPlain([view], { authentication: AUTHENTICATION });
  const asker = new Asker(server, view);
  const cases = await asker.cases();
  for (const user of USERS) {
    for (const { attributes, ...call } of cases) {
      const served = await asker.request(user, call);
      const what = `${user}: ${call.call}`;
      expect(await asker.review(user, { resourceAttributes: attributes }), what).to.equal(served);
      const { resourceRules } = await asker.rules(user, attributes.namespace || "default");
      if (view.authorize.rules !== undefined)
        expect(
          resourceRules.some((rule) => covers(rule, attributes)),
          `${what}, by the list`,
        ).to.equal(served);
      // Rules of other authorizers come from requests without a name, so the list may lack named permissions.
    }
    for (const path of PATHS)
      for (const method of ["GET", "POST"]) {
        const served = await asker.request(user, { call: `${method} ${path}` as Case["call"] });
        const nonResourceAttributes = { verb: method.toLowerCase(), path };
        expect(await asker.review(user, { nonResourceAttributes }), `${user}: ${method} ${path}`).to.equal(served);
      }
  }
  return cases.length;
}

function covers({ verbs, apiGroups, resources, resourceNames = [] }: ResourceRule, asked: Attributes): boolean {
  const { verb, group, resource, subresource = "", name = "" } = asked;
  const full = subresource === "" ? resource : `${resource}/${subresource}`;
  const has = (values: readonly string[], ...wanted: string[]): boolean =>
    ["*", ...wanted].some((one) => values.includes(one));
  return (
    has(verbs, verb) &&
    has(apiGroups, group) &&
    has(resources, full, ...(subresource === "" ? [] : [`*/${subresource}`])) &&
    (resourceNames.length === 0 || resourceNames.includes(name))
  );
}

describe("reviews agree with requests", function () {
  this.timeout(60_000);
  const views: VirtualWorkspace[] = [];
  const store = memoryStore();

  before(async () => {
    for (const file of globSync("examples/*.ts", { cwd: root }).sort()) {
      const { default: found } = (await import(pathToFileURL(join(root, file)).href)) as {
        default?: VirtualWorkspace | ((host: Host) => VirtualWorkspace);
      };
      // A program, such as a controller, is not a view.
      if (found !== undefined) views.push(typeof found === "function" ? found({ store }) : found);
    }
  });

  after(() => store[Symbol.asyncDispose]());

  it("for every example", async () => {
    for (const view of views) expect(await agree(view), view.name).to.be.above(0);
  });

  it("for all examples together, as dev serves them", async () => {
    const all = unionOf("dev", views) as VirtualWorkspace;
    expect(await agree(all)).to.be.above(50);
  });

  const Machine = defineResource({
    group: "test.dev",
    version: "v1",
    kind: "Machine",
    scope: "Namespaced",
    spec: { type: "object", properties: { replicas: { type: "integer" } } },
    status: { type: "object", properties: { replicas: { type: "integer" } } },
    subresources: { scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } },
  });
  const machines = { apiGroups: ["test.dev"], resources: ["machines", "machines/status"] };
  const objects = [
    {
      kind: "ClusterRole",
      metadata: { name: "read" },
      rules: [
        { ...machines, verbs: ["get", "list"] },
        { nonResourceURLs: ["/api*"], verbs: ["get"] },
      ],
    },
    { kind: "ClusterRole", metadata: { name: "a" }, rules: [{ ...machines, verbs: ["*"], resourceNames: ["a"] }] },
    {
      kind: "ClusterRoleBinding",
      metadata: { name: "read" },
      roleRef: { kind: "ClusterRole", name: "read" },
      subjects: [{ kind: "Group", name: "system:authenticated" }],
    },
    {
      kind: "RoleBinding",
      metadata: { name: "a", namespace: "attic" },
      roleRef: { kind: "ClusterRole", name: "a" },
      subjects: [{ kind: "User", name: "alice" }],
    },
    {
      kind: "ClusterRoleBinding",
      metadata: { name: "gone" },
      roleRef: { kind: "ClusterRole", name: "gone" },
      subjects: [{ kind: "User", name: "bob" }],
    },
  ] as const;
  const own: Authorizer<unknown> = ({ user, verb, isResource }) =>
    !isResource || user.name !== "bob" || verb.length % 2 === 0 ? allow() : deny("odd");
  const rules: Readonly<Record<string, Authorizer<unknown>>> = {
    "authenticated()": authenticated(),
    "readOnly()": readOnly(),
    "groups()": groups("system:masters"),
    "rbac()": union(groups("system:masters"), rbac({ objects })),
    "one of one's own": own,
    "all of them": union(groups("system:masters"), rbac({ objects }), readOnly(own)),
    "one that answers later": async (request) => own(request),
  };
  for (const [name, authorize] of Object.entries(rules))
    it(`for ${name}`, async () => {
      const resources = [Machine.serve(Machine.collection())];
      expect(
        await agree(defineVirtualWorkspace({ name: "view", path: "/clusters/:cluster", authorize, resources })),
      ).to.be.above(20);
    });
});
