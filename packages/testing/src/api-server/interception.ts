import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Intercept, InterceptedRequest, RequestRecord } from "@virtual-workspaces/framework/server";
import { Faults } from "./faults.ts";
import { answerWatch, OpenWatches, TOO_OLD } from "./open-watches.ts";
import { RecordedRequests, type RecordedRequestsOptions, subjectOf } from "./recorded-requests.ts";

/** Requests of clients before the server handles them: recorded, counted as watches, and given faults. */
export class Interception {
  readonly requests: RecordedRequests;
  readonly faults: Faults = new Faults();
  readonly watches: OpenWatches = new OpenWatches();
  readonly #isExpired: (request: InterceptedRequest) => boolean;

  /** @param isExpired whether a watch starts in an earlier state */
  constructor(requests: RecordedRequestsOptions | undefined, isExpired: (request: InterceptedRequest) => boolean) {
    this.requests = new RecordedRequests(requests);
    this.#isExpired = isExpired;
  }

  readonly intercept: Intercept = (request) => {
    const subject = subjectOf(request);
    this.requests.received(request, subject);
    if (request.verb === "watch") {
      this.watches.add({ subject, request });
      if (this.#isExpired(request)) return answerWatch(request.res, ApiError.expired(TOO_OLD));
    }
    return !this.faults.isEmpty && this.faults.apply(request, subject);
  };

  readonly onRequest = (record: RequestRecord): void => this.requests.ended(record);

  /** Forgets faults and records. */
  clear(): void {
    this.faults.clear();
    this.requests.clear();
  }
}
