/** The words of the node that screens show, as they travel: a field that has its usual value is left out. */

export type {
  Action,
  ActionKind,
  AskKind,
  Attachment,
  AttentionKind,
  AttentionSettings,
  Choice,
  DigestLine,
  HowEnded,
  HowSettled,
  Judgement,
  Mode,
  Phrase,
  PushTest,
  ReviewerPhase,
  ReviewScope,
  Sender,
  Severity,
  Usage,
} from "../wire/types";
