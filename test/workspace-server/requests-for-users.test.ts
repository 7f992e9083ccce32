// Requests of our views to a shard on behalf of users: deep reviews of an exporter's policy, and objects of bound workspaces
// by warrants.
import { Client } from "@virtual-workspaces/client";
import { type SubjectAccessReviewOptions, subjectAccessReview } from "@virtual-workspaces/forwarding";
import { User } from "@virtual-workspaces/framework";
import { DEEP_REVIEW_HEADER } from "@virtual-workspaces/kcp";
import { contentWarrant, prefixedUser, withWarrant } from "@virtual-workspaces/kcp/users";
import { expect } from "chai";
import { asked } from "../_support/asked.ts";
import { json, misbehaving } from "../forwarding/misbehaving.ts";
import { bind, makeAdmin, makeWorkspace } from "./support/logical-clusters.ts";
import { startWorkspaces, type Workspaces } from "./support/workspaces.ts";

const ada = new User({ name: "ada", groups: ["system:authenticated"] });
const GROUP = "rbac.authorization.k8s.io";
const COWBOYS = { verb: "list", group: "wild.dev", version: "v1", resource: "cowboys" } as const;

const as = (server: Workspaces, token: string) => ({
  url: server.url,
  credentials: { get: () => ({ headers: ["Authorization", `Bearer ${token}`] }) },
});

type Asked = Omit<SubjectAccessReviewOptions<{ readonly cluster: string }>, "upstream"> & { readonly token?: string };

/** Whether ada may list cowboys. */
async function may(server: Workspaces, cluster: string, { token = "root", ...options }: Asked = {}): Promise<boolean> {
  await using review = subjectAccessReview<{ readonly cluster: string }>({ ...options, upstream: as(server, token) });
  const { allowed } = await review({ ...asked(ada, COWBOYS), params: { cluster } });
  return allowed;
}

/** Creates `provider`, whose policy allows reading cowboys. */
async function provider(server: Workspaces): Promise<string> {
  const cluster = await makeWorkspace(server, "provider");
  const role = {
    apiVersion: `${GROUP}/v1`,
    kind: "ClusterRole",
    metadata: { name: "most" },
    rules: [{ apiGroups: ["wild.dev"], resources: ["cowboys"], verbs: ["list"] }],
  };
  const made = await server.send(`POST /clusters/${cluster}/apis/${GROUP}/v1/clusterroles`, role, { user: "root" });
  expect(made.status, made.text).to.equal(201);
  const subject = { apiGroup: GROUP, kind: "Group", name: "apis.kcp.io:binding:system:authenticated" };
  await bind(server, cluster, { name: "most", role: "most", subject });
  return cluster;
}

describe("a deep access review", () => {
  it("answers for a user without access to the exporter's workspace", async () => {
    await using server = await startWorkspaces();
    const cluster = await provider(server);
    expect(await may(server, cluster, { deep: true, subject: prefixedUser })).to.equal(true);
    expect(await may(server, cluster, { subject: prefixedUser }), "who must enter").to.equal(false);
    expect(await may(server, cluster, { deep: true }), "without the prefix").to.equal(false);
  });

  it("is denied to callers other than system:masters", async () => {
    await using server = await startWorkspaces();
    const cluster = await provider(server);
    await makeAdmin(server, cluster, "bob");
    expect(await may(server, cluster, { token: "bob", deep: true, subject: prefixedUser })).to.equal(false);
  });

  it("is requested with kcp's header, which plain reviews omit", async () => {
    for (const [deep, value] of [
      [true, "true"],
      [false, undefined],
    ] as const) {
      const seen: unknown[] = [];
      await using shard = await misbehaving((res, _count, { headers }) => {
        seen.push(headers[DEEP_REVIEW_HEADER.toLowerCase()]);
        const about = { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview" };
        json(res, { ...about, status: { allowed: true } });
      });
      await using review = subjectAccessReview({ upstream: { url: shard.url }, deep });
      expect((await review(asked(ada, COWBOYS))).allowed).to.equal(true);
      expect(seen).to.deep.equal([value]);
    }
  });

  it("is cached for a subject, which is mapped once", async () => {
    await using server = await startWorkspaces();
    const cluster = await provider(server);
    let told = 0;
    await using review = subjectAccessReview<{ readonly cluster: string }>({
      upstream: as(server, "root"),
      deep: true,
      subject: (user) => {
        told++;
        return prefixedUser(user);
      },
    });
    for (const verb of ["list", "get", "list"])
      await review({ ...asked(ada, { ...COWBOYS, verb }), params: { cluster } });
    expect([told, review.stats.asked]).to.deep.equal([1, 2]);
  });
});

describe("a warrant for a workspace's content", () => {
  it("opens that workspace only, and keeps the user's identity", async () => {
    await using server = await startWorkspaces();
    const [one, two] = [await makeWorkspace(server, "one"), await makeWorkspace(server, "two")];
    await using client = new Client({ upstream: as(server, "root") });
    const maps = { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", scope: "Namespaced" } as const;
    const place = (cluster: string, who = withWarrant(ada, contentWarrant(one))) =>
      client.cluster(cluster).as(who).resource<object>(maps).in("default");
    const codeOf = (ask: Promise<object>): Promise<number> =>
      ask.then(
        () => 200,
        ({ code }) => code,
      );
    expect(await codeOf(place(one, ada).list())).to.equal(403);
    expect(await codeOf(place(two).list())).to.equal(403);
    const made = await place(one).create({ metadata: { name: "menu" } });
    expect(made.metadata.name).to.equal("menu");
    const who = await server.send(
      `POST /clusters/${one}/apis/authentication.k8s.io/v1/selfsubjectreviews`,
      { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
      {
        user: "root",
        headers: {
          "Impersonate-User": "ada",
          "Impersonate-Extra-authorization.kcp.io%2Fwarrant": JSON.stringify({
            user: "system:serviceaccount:default:rest",
            groups: ["system:kcp:admin"],
            extra: { "authentication.kcp.io/cluster-name": [one] },
          }),
        },
      },
    );
    expect(who.body.status.userInfo.username).to.equal("ada");
  });
});
