// Workspaces whose types name token issuers, created over HTTP as an administrator.
import type { JwtAuthenticator } from "@virtual-workspaces/framework/authn";
import { expect } from "chai";
import type { TestIssuer } from "../../_support/issuer.ts";
import type { Answer, Calls } from "../../_support/plain.ts";

const TENANCY = "apis/tenancy.kcp.io/v1alpha1";
const root = { user: "root" };

/** Path of the configurations of types in `root`. */
const CONFIGURATIONS = `/clusters/root/${TENANCY}/workspaceauthenticationconfigurations`;

/** Maps an issuer's tokens to user `<prefix><sub>` in groups `<prefix><groups>`. */
export function mapped(issuer: TestIssuer, prefix: string, more: Partial<JwtAuthenticator> = {}): JwtAuthenticator {
  return issuer.config({
    claimMappings: { username: { claim: "sub", prefix }, groups: { claim: "groups", prefix } },
    ...more,
  });
}

/** Creates or replaces the configuration of issuers in `root`. */
export async function configure(
  server: Calls,
  name: string,
  jwt: readonly Partial<JwtAuthenticator>[],
): Promise<Answer> {
  const kind = "WorkspaceAuthenticationConfiguration";
  const object = { apiVersion: "tenancy.kcp.io/v1alpha1", kind, metadata: { name }, spec: { jwt } };
  const asked = { ...root, headers: { "content-type": "application/apply-patch+yaml" } };
  return server.send(
    `PATCH ${CONFIGURATIONS}/${name}?fieldManager=test&force=true` as `PATCH /${string}`,
    object,
    asked,
  );
}

/** Creates or updates a type in `root` with these configurations. */
export async function makeType(server: Calls, name: string, configurations: readonly string[]): Promise<void> {
  const object = {
    apiVersion: "tenancy.kcp.io/v1alpha1",
    kind: "WorkspaceType",
    metadata: { name },
    spec: {
      extend: { with: [{ name: "universal", path: "root" }] },
      authenticationConfigurations: configurations.map((one) => ({ name: one })),
    },
  };
  const asked = { ...root, headers: { "content-type": "application/apply-patch+yaml" } };
  const path = `/clusters/root/${TENANCY}/workspacetypes/${name}?fieldManager=test&force=true`;
  const made = await server.send(`PATCH ${path}` as `PATCH /${string}`, object, asked);
  expect(made.status, made.text).to.be.oneOf([200, 201]);
}

export async function removeConfiguration(server: Calls, name: string): Promise<void> {
  const { status, text } = await server.send(`DELETE ${CONFIGURATIONS}/${name}`, undefined, root);
  expect(status, text).to.equal(200);
}
