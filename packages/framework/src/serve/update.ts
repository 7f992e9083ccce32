import { cloneJson, type KubeObject } from "@virtual-workspaces/apimachinery";
import type { AuthorizedExchange } from "../exchange.ts";
import type { ServedResource } from "../resource/served.ts";
import { checkPlace } from "../write/identity.ts";
import type { Draft } from "../write/request.ts";
import { answerObject, wantedObject } from "./answer.ts";
import { reporter, sentObject } from "./body.ts";
import { passes, passWrite } from "./passing.ts";
import { keyOf } from "./scope.ts";
import { mayCreate, writeQuery, writeRequest } from "./write-request.ts";

/** Answers an UPDATE of an object, or of one of the parts that are written by themselves. */
export async function serveUpdate(exchange: AuthorizedExchange, resource: ServedResource): Promise<void> {
  if (passes(resource)) return passWrite(exchange, resource, "update");
  const { definition, writer } = resource;
  const wanted = wantedObject(exchange);
  const query = writeQuery(exchange, resource, { kind: "UpdateOptions" });
  const { object, findings } = await sentObject(exchange, definition);
  const key = keyOf(exchange);
  checkPlace(object, key);
  const request = writeRequest(exchange, resource, query);
  const unknown = reporter(findings, definition, request.options);
  writer.conform(object, { ...request, unknown });
  // What the writer does to an object is to its metadata and its parts as wholes; what a hook does nobody knows.
  const copy = resource.admit === undefined ? shallow : cloneJson;
  const creates = definition.strategy?.createOnUpdate === true && request.part === "";
  const draft = (): Draft => ({ object: copy(object), by: "replacing" });
  const asked = creates ? { ...request, mayCreate: () => mayCreate(exchange, resource) } : request;
  const { object: kept, created } = await writer.update(key, draft, asked);
  answerObject(exchange, resource, { object: kept, code: created === true ? 201 : 200, wanted });
}

function shallow(object: KubeObject): KubeObject {
  return { ...object, metadata: { ...object.metadata } };
}

/** Answers a CREATE. */
export async function serveCreate(exchange: AuthorizedExchange, resource: ServedResource): Promise<void> {
  if (passes(resource)) return passWrite(exchange, resource, "create");
  const { definition, writer } = resource;
  const wanted = wantedObject(exchange);
  const query = writeQuery(exchange, resource, { kind: "CreateOptions" });
  const { object, findings } = await sentObject(exchange, definition);
  checkPlace(object, { namespace: exchange.info.namespace, name: "" });
  const request = writeRequest(exchange, resource, query);
  const unknown = reporter(findings, definition, request.options);
  answerObject(exchange, resource, { object: await writer.create(object, { ...request, unknown }), code: 201, wanted });
}
