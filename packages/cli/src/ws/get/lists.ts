import { isApiError, isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import type { DiscoveredKind } from "@virtual-workspaces/client";
import { ask, refusal } from "../ask.ts";
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

async function pageOf(session: Session, path: string, as: Asked["as"]): Promise<JsonObject> {
  const answer = await ask(session, path, as === "Table" ? TABLE : "application/json");
  if (answer.status < 300 && answer.body !== undefined) return answer.body;
  throw refusal(path, answer);
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

/** Whether an answer says that there is no such resource. */
export function isUnserved(error: unknown): boolean {
  return isApiError(error) && error.code === 404;
}
