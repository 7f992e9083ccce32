import type { Exchange } from "../exchange.ts";
import type { ServedResource } from "../resource/served.ts";
import { checkPlace } from "../write/identity.ts";
import { answerObject, wantedObject } from "./answer.ts";
import { reporter, sentObject } from "./body.ts";
import { passes, passWrite } from "./passing.ts";
import { writeQuery, writeRequest } from "./write-request.ts";

/** Answers a CREATE. */
export async function serveCreate(exchange: Exchange, resource: ServedResource): Promise<void> {
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
