// What the tests of all runners share: a Greeting, and the text that the controller has written.
import { KubeConfig } from "@kubernetes/client-node";
import type { TestServer } from "@virtual-workspaces/testing";
import type { Greeting } from "./greeter.ts";

const GREETING = {
  group: "example.dev",
  version: "v1",
  kind: "Greeting",
  plural: "greetings",
  scope: "Namespaced",
} as const;

/** Returns the configuration of client-node for a user of the server. */
export function configOf(server: TestServer, user = "admin"): KubeConfig {
  const config = new KubeConfig();
  config.loadFromString(server.user(user).kubeconfig);
  return config;
}

/** Creates a Greeting and waits for its text. */
export async function greeted(server: TestServer, name: string): Promise<string> {
  const greetings = server.client.resource<Pick<Greeting, "spec">>(GREETING).in("default");
  await greetings.create({ metadata: { name: "first" }, spec: { name } });
  const signal = AbortSignal.timeout(20_000);
  for await (const { object } of greetings.watch({ fields: "metadata.name=first", signal })) {
    const { status } = object as Partial<Greeting>;
    if (status !== undefined) return status.text;
  }
  throw new Error("the watch ended");
}
