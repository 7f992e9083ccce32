import { requestInfo } from "../request/request-info.ts";

/** Where the part of a path begins that says what a request is about. */
const API = /\/apis?\/(?!.*\/clusters\/)/;

/** What is open-ended says so by one of these, or by an escape of one. */
const SAYS = /watch|proxy|attach|exec|log|portforward|%/;

/**
 * Whether a request for some view elsewhere is open-ended, as a watch is. Where that view's own part of the path ends nobody
 * here knows: it is read from where API groups begin. It is about how the request is counted, and nothing else.
 */
export function isOpenEnded(method: string, tail: string, search: string): boolean {
  if (!SAYS.test(tail) && (search === "" || !SAYS.test(search))) return false;
  const at = API.exec(tail)?.index;
  if (at === undefined) return false;
  try {
    return requestInfo({ method, tail: tail.slice(at), query: new URLSearchParams(search) }).longRunning;
  } catch {
    return false; // for the other server to refuse
  }
}
