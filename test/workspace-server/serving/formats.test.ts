// Formats of newer releases in workspaces: CBOR, and answers without managedFields.
import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { expect } from "chai";
import { readCbor } from "../../../packages/framework/src/body/cbor/cbor-reader.ts";
import { cborDocument } from "../../../packages/framework/src/encode/cbor.ts";
import { startWorkspaces } from "../support/workspaces.ts";

const NAMESPACES = "/clusters/root/api/v1/namespaces";
const CBOR = "application/cbor";

describe("formats in workspaces", () => {
  it("are CBOR for clients that send and accept it, without managedFields where Accept says drop", async () => {
    await using server = await startWorkspaces();
    const ask = async (method: string, path: string, body?: object) => {
      const response = await fetch(server.url + path, {
        method,
        headers: { authorization: "Bearer root", accept: `${CBOR};drop=metadata.managedFields`, "content-type": CBOR },
        ...(body && { body: new Uint8Array(cborDocument(Buffer.from(JSON.stringify(body)))) }),
      });
      const read = readCbor(Buffer.from(await response.arrayBuffer()));
      return { status: response.status, type: response.headers.get("content-type"), body: read as KubeObject };
    };
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "made" } };
    const made = await ask("POST", NAMESPACES, namespace);
    expect([made.status, made.type, made.body.metadata.name]).to.deep.equal([201, CBOR, "made"]);
    const { body } = await server.get(`${NAMESPACES}/made`, { user: "root" });
    const { managedFields, ...metadata } = body.metadata;
    expect(managedFields).to.have.length.above(0);
    expect((await ask("GET", `${NAMESPACES}/made`)).body).to.deep.equal({ ...body, metadata });
    const missing = await ask("GET", `${NAMESPACES}/missing`);
    expect([missing.status, missing.type, missing.body.kind]).to.deep.equal([404, CBOR, "Status"]);
  });
});
