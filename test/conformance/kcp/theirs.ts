// The kcp that KCP_KUBECONFIG names, by the admin.kubeconfig that it writes.
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { Caller } from "../../differential/caller.ts";
import type { Subject } from "./play.ts";

const ROOT_SHARD = "/clusters/root/apis/core.kcp.io/v1alpha1/shards/root";

interface Kubeconfig {
  readonly clusters: readonly { readonly name: string; readonly cluster: Cluster }[];
  readonly users: readonly { readonly name: string; readonly user: { readonly token: string } }[];
}

interface Cluster {
  readonly server: string;
  readonly "certificate-authority-data": string;
}

/**
 * Returns kcp as a subject. The users `alice` and `bob` come from its `--token-auth-file`, with their names as tokens.
 *
 * @param views URL of its views of APIExports, with a certificate that Node trusts.
 * @default the same server
 */
export function theirs(kubeconfig: string, views?: string): Subject {
  const { clusters, users } = parse(readFileSync(kubeconfig, "utf8")) as Kubeconfig;
  const base = clusters.find(({ name }) => name === "base")?.cluster;
  if (base === undefined) throw new Error(`no cluster "base" in ${kubeconfig}: use the file that kcp writes`);
  const token = (name: string): string => users.find((user) => user.name === name)?.user.token ?? "";
  return {
    url: base.server,
    headers: {},
    patienceMs: 60_000,
    tls: { ca: Buffer.from(base["certificate-authority-data"], "base64").toString() },
    ...(views !== undefined && { views: { url: views, headers: {}, tls: {} } }),
    tokens: { root: token("shard-admin"), admin: token("kcp-admin"), alice: "alice", bob: "bob" },
  };
}

export async function versionOf(subject: Subject): Promise<string> {
  const { gitVersion } = (await asked(subject, "/version")) as { gitVersion: string };
  return gitVersion;
}

/** Returns the address that its shard publishes for its views. */
export async function publishedBy(subject: Subject): Promise<string> {
  const { spec } = (await asked(subject, ROOT_SHARD)) as { spec: { virtualWorkspaceURL: string } };
  return spec.virtualWorkspaceURL;
}

async function asked(subject: Subject, path: string): Promise<unknown> {
  using caller = new Caller(subject);
  const headers = { authorization: `Bearer ${subject.tokens.root}` };
  const { text } = await caller.call({ method: "GET", path, headers });
  return JSON.parse(text);
}
