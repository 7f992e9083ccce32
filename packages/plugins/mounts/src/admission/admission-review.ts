import type { JsonSchema } from "@virtual-workspaces/apimachinery";
import { Resource, type ReviewedUser } from "@virtual-workspaces/framework";

/** What an AdmissionReview holds. */
export interface AdmissionReviewContent {
  readonly request?: Record<string, unknown>;
  readonly response?: Record<string, unknown>;
}

const ANYTHING: JsonSchema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

/** `admission.k8s.io/v1` AdmissionReview: what an API server asks of a webhook before it writes. It is only created; what it is answered is in it. */
export const AdmissionReview: Resource<AdmissionReviewContent> = new Resource<AdmissionReviewContent>({
  group: "admission.k8s.io",
  version: "v1",
  kind: "AdmissionReview",
  scope: "Cluster",
  description: "A write that an API server asks about. It is only created; the answer is in its response.",
  schema: { type: "object", properties: { request: ANYTHING, response: ANYTHING } },
});

/** What of a review's `request` is looked at. Its API server vouches for it. */
export interface AdmissionRequest {
  readonly uid: string;
  readonly resource: { readonly group: string; readonly resource: string };
  readonly subResource?: string;
  readonly operation: string;
  readonly userInfo: ReviewedUser;
  /** What is to be; `null` where something is deleted. */
  readonly object?: object | null;
  /** What there is; `null` where something is created. */
  readonly oldObject?: object | null;
}
