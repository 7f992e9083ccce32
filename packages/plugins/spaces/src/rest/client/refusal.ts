import { isJsonObject, type JsonObject, memberOf } from "@virtual-workspaces/apimachinery";
import { header, type ResponseHeaders } from "@virtual-workspaces/transport";
import { ProviderBusy } from "../../provider/provider-calls.ts";
import { problemOf } from "../document/schemas.ts";
import { MEDIA, mediaOf } from "../protocol.ts";
import { jsonIn, shown } from "./said.ts";

/** An answer that is none of what was asked for. */
export interface Unwanted {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body: Buffer;
}

/** How long one can make us wait, s. */
const LONGEST_WAIT = 60;

/** A provider has said no. */
export class Refusal extends Error {
  readonly code: number;
  /** Whether it has said, in as many words, that there is no space of this name. */
  readonly isAbout: (name: string) => boolean;

  constructor(code: number, message: string, isAbout: Refusal["isAbout"] = () => false) {
    super(message);
    this.code = code;
    this.isAbout = isAbout;
  }
}

/**
 * What an answer comes to that is no success, for a condition: what the provider says in a Status, and nothing of any other page, which may be of whoever else
 * listens there.
 *
 * @param what `GET https://host/v1/spaces`
 */
export function refusalOf(what: string, { status: code, headers, body }: Unwanted): Error {
  if (code >= 300 && code < 400)
    return new Refusal(code, `${what}: ${code}, a redirect, which is not followed: give the url that it leads to`);
  const told = mediaOf(header(headers, "content-type")) === MEDIA.json ? jsonIn(body) : undefined;
  if (!isJsonObject(told) || problemOf("Status", told) !== undefined || told["code"] !== code)
    return new Refusal(code, `${what}: ${code} without a Status: is the url that of a space provider?`);
  const message = `${what}: ${code} ${shown(String(told["message"]))}${REMEDIES[code] ?? ""}`;
  const wait = Number(header(headers, "retry-after"));
  if (code === 429) return new ProviderBusy(message, 1000 * Math.min(wait > 0 ? wait : 1, LONGEST_WAIT));
  const details = told["details"];
  const isSpace = code === 404 && isJsonObject(details) && memberOf(details, "kind") === "spaces";
  return new Refusal(code, message, (name) => isSpace && memberOf(details as JsonObject, "name") === name);
}

const REMEDIES: Readonly<Record<number, string>> = {
  401: ": the provider does not take what the Secret has: put the credential there that it knows",
  403: ": the provider does not let the user of the Secret do this",
};
