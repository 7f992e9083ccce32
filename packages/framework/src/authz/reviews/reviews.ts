import { type Asker, advertised, viewResources } from "../../hooks/hooks.ts";
import type { RequestInfo } from "../../request/request-info.ts";
import type { ServedResource } from "../../resource/served.ts";
import type { VirtualWorkspace } from "../../virtual-workspace.ts";
import { AccessReviews, SelfReviews } from "./access-reviews.ts";
import { SelfSubjectAccessReview, SelfSubjectReview, SelfSubjectRulesReview } from "./kinds.ts";
import { findIn, Questions, type ReviewSubject } from "./questions.ts";
import { RulesReviews } from "./rule-survey.ts";

/**
 * Reviews that each view serves besides its own resources, so that clients can query their identity and permissions. A view
 * with a resource of the same name serves that instead. A view with a raw handler has none of them, unless it declares what
 * it handles: everything that its resources do not serve belongs to the handler.
 */
export class Reviews {
  readonly served: readonly ServedResource[];
  readonly #workspace: VirtualWorkspace;

  constructor(subject: ReviewSubject) {
    this.#workspace = subject.workspace;
    const { handle, handleWhen } = subject.workspace;
    this.served = handle === undefined || handleWhen !== undefined ? reviewsOf(new Questions(subject, this)) : [];
  }

  /**
   * Returns the review that a request is for, unless the view serves it itself: then the view's rule decides. The rule also
   * decides when the discovery hook fails, so that only users whom it allows see that error.
   */
  async of(asker: Asker, info: RequestInfo): Promise<ServedResource | undefined> {
    if (this.served.length === 0) return undefined;
    try {
      return findIn(this.besides(advertised(await viewResources(this.#workspace, asker))), info);
    } catch {
      return undefined;
    }
  }

  /** Returns the reviews of a view that serves these resources. */
  besides(list: readonly ServedResource[]): readonly ServedResource[] {
    return this.served.filter(
      ({ definition }) => findIn(list, { ...definition, resource: definition.plural }) === undefined,
    );
  }
}

function reviewsOf(questions: Questions): readonly ServedResource[] {
  return [
    SelfSubjectReview.serve(new SelfReviews()),
    SelfSubjectAccessReview.serve(new AccessReviews(questions)),
    SelfSubjectRulesReview.serve(new RulesReviews(questions)),
  ];
}
