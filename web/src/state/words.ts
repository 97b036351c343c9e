/** The words of the node that screens show, as they travel: a field that has its usual value is left out. */

export type {
  Action,
  ActionKind,
  AskKind,
  Attachment,
  Choice,
  HowEnded,
  HowSettled,
  Mode,
  Sender,
  Usage,
} from "../wire/types";
