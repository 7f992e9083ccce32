import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { Client } from "@virtual-workspaces/client";
import { staticTokens } from "@virtual-workspaces/framework";
import { createApp, Todo } from "../src/app.ts";

/** Starts the application over plain HTTP, with the token of one user. */
async function start(stack: AsyncDisposableStack): Promise<string> {
  const { app, api } = createApp([staticTokens({ secret: { name: "ann" } })]);
  const server = createServer(app);
  await once(server.listen(0, "127.0.0.1"), "listening");
  stack.defer(() => void server.close());
  stack.use(api);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("shows in a watch what the application stores", async () => {
  await using stack = new AsyncDisposableStack();
  const url = await start(stack);
  const credentials = { get: () => ({ headers: ["Authorization", "Bearer secret"] }) };
  const client = stack.use(new Client({ upstream: { url: `${url}/services/my-view`, credentials }, cluster: "root" }));

  const todos = client.resource(Todo);
  const { metadata } = await todos.list();
  const response = await fetch(`${url}/todos`, {
    method: "POST",
    headers: { "content-type": "application/json", connection: "close" },
    body: JSON.stringify({ title: "Buy milk" }),
  });
  assert.equal(response.status, 201);
  const { id } = (await response.json()) as { readonly id: string };
  for await (const { type, object } of todos.watch({ resourceVersion: metadata.resourceVersion ?? "" })) {
    if (type === "BOOKMARK") continue;
    assert.deepEqual([type, object.metadata.name, object.spec.title], ["ADDED", id, "Buy milk"]);
    break;
  }
});

test("rejects callers without a credential", async () => {
  await using stack = new AsyncDisposableStack();
  const url = await start(stack);
  const response = await fetch(`${url}/services/my-view/clusters/root/apis`, { headers: { connection: "close" } });
  assert.equal(response.status, 401);
});
