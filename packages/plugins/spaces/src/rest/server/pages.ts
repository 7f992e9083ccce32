import { ApiError } from "@virtual-workspaces/apimachinery";
import type { PhysicalSpace } from "../../provider/provider.ts";
import type { Bodies } from "../document/bodies.ts";
import { isSpaceName } from "../document/schemas.ts";

/** Which part of a list is wanted. */
export interface Page {
  /** @default all */
  readonly limit: number | undefined;
  /** As the page before said. @default the first */
  readonly continue: string | undefined;
}

/** Spaces in the order of their names, so that whatever is there from the first page to the last is on one of them. @throws ApiError 400 */
export function pageOf(spaces: Iterable<PhysicalSpace>, { limit, continue: token }: Page): Bodies["SpaceList"] {
  const after = token === undefined ? "" : nameIn(token);
  const all = [...spaces].filter(({ name }) => name > after).sort((one, other) => (one.name < other.name ? -1 : 1));
  const items = all.slice(0, limit);
  const last = items.at(-1);
  const isMore = last !== undefined && items.length < all.length;
  return { items, ...(isMore && { continue: Buffer.from(`after ${last.name}`).toString("base64url") }) };
}

function nameIn(token: string): string {
  const [, name = ""] = /^after (.*)$/s.exec(Buffer.from(token, "base64url").toString("utf8")) ?? [];
  if (!isSpaceName(name))
    throw ApiError.badRequest("continue: it is none that a list has said: begin with the first page");
  return name;
}
