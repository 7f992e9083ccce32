import { isJsonObject } from "@virtual-workspaces/apimachinery";
import { parseOwnJson } from "@virtual-workspaces/apimachinery/json";
import { MASTERS_GROUP } from "@virtual-workspaces/kcp/users";
import type { Upstream } from "@virtual-workspaces/transport";
import { Failure } from "../process/failure.ts";

/** Time to wait for the server, ms. */
const PATIENCE = 5_000;
/** Logical clusters to ask in: every shard has the first one, and users without access to it have access to the second. */
const ASKED = ["system:admin", "root"];

/**
 * Checks that the user of the kubeconfig is a member of `system:masters`: another one cannot read all logical clusters or act
 * as callers, and each view would fail on its own. A server that is not running yet, or does not name the user, is no failure.
 *
 * @throws Failure that names the user
 */
export async function checkAdministrator(upstream: Upstream): Promise<void> {
  const user = await userOf(upstream);
  if (user === undefined || user.groups.includes(MASTERS_GROUP)) return;
  throw new Failure(
    `--kubeconfig: the user ${JSON.stringify(user.name)} is not in ${MASTERS_GROUP}, whose rights views need: set --context to one of such a user, shard-base in kcp's admin.kubeconfig`,
  );
}

interface NamedUser {
  readonly name: string;
  readonly groups: readonly unknown[];
}

async function userOf(upstream: Upstream): Promise<NamedUser | undefined> {
  for (const cluster of ASKED) {
    const user = await userIn(cluster, upstream).catch(() => undefined);
    if (user !== undefined) return user;
  }
  return undefined;
}

async function userIn(cluster: string, upstream: Upstream): Promise<NamedUser | undefined> {
  const answer = await upstream.send({
    method: "POST",
    path: `/clusters/${cluster}/apis/authentication.k8s.io/v1/selfsubjectreviews`,
    headers: ["Accept", "application/json", "Content-Type", "application/json"],
    body: Buffer.from(JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" })),
    deadlines: { head: PATIENCE, idle: PATIENCE },
  });
  if (answer.status !== 201 && answer.status !== 200) return undefined;
  const review = parseOwnJson(answer.body.toString("utf8"));
  const status = isJsonObject(review) && isJsonObject(review["status"]) ? review["status"] : {};
  const user = isJsonObject(status["userInfo"]) ? status["userInfo"] : {};
  const { username, groups } = user;
  return typeof username === "string" && Array.isArray(groups) ? { name: username, groups } : undefined;
}
