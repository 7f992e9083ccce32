import {
  ApiError,
  isApiError,
  isJsonObject,
  type JsonObject,
  parseOwnJson,
  statusFrom,
} from "@virtual-workspaces/apimachinery";
import type { DiscoveredKind } from "@virtual-workspaces/client";
import type { Session } from "../session.ts";

/** What is asked of each workspace. */
export interface Asked {
  readonly kind: DiscoveredKind;
  /** "" for all. */
  readonly namespace: string;
  readonly labels: string | undefined;
  /** As tables, for people, or as objects. */
  readonly as: "Table" | "objects";
}

const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io, application/json";
/** Objects on a page. */
const PAGE = "500";

/** The pages of a list in one workspace. @throws ApiError what the server answered, TransportError */
export async function pagesOf(session: Session, path: string, asked: Asked): Promise<readonly JsonObject[]> {
  const pages: JsonObject[] = [];
  let more = "";
  do {
    const page = await pageOf(session, `/clusters/${path}${placeOf(asked)}${queryOf(asked, more)}`, asked.as);
    pages.push(page);
    const { metadata } = page;
    more = isJsonObject(metadata) && typeof metadata["continue"] === "string" ? metadata["continue"] : "";
  } while (more !== "");
  return pages;
}

async function pageOf({ upstream, calling }: Session, path: string, as: Asked["as"]): Promise<JsonObject> {
  const { headers, signal } = calling;
  const accept = as === "Table" ? TABLE : "application/json";
  const { status, body } = await upstream.send({
    path,
    headers: ["Accept", accept, ...headers],
    ...(signal && { signal }),
  });
  const answer = jsonOf(body.toString("utf8"));
  if (status < 300 && answer !== undefined) return answer;
  throw new ApiError(
    statusFrom(answer ?? {}, { code: status, message: `GET ${path.split("?")[0]}: answered ${status}` }),
  );
}

function placeOf({ kind: { group, version, plural, scope }, namespace }: Asked): string {
  const within = scope === "Namespaced" && namespace !== "" ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  return `${group === "" ? "/api" : `/apis/${group}`}/${version}${within}/${plural}`;
}

function queryOf({ labels, as }: Asked, more: string): string {
  const query = new URLSearchParams({ limit: PAGE });
  if (labels !== undefined) query.set("labelSelector", labels);
  if (as === "Table") query.set("includeObject", "Metadata");
  if (more !== "") query.set("continue", more);
  return `?${query}`;
}

function jsonOf(text: string): JsonObject | undefined {
  try {
    const value = parseOwnJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether an answer says that there is no such resource. */
export function isUnserved(error: unknown): boolean {
  return isApiError(error) && error.code === 404;
}
