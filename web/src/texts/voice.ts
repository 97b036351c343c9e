/** Texts of voice notes. */

import type { Sentence } from "../texts";

export const VOICE_TEXTS = {
  finishNote: ["Write it down", "Aufschreiben", "Transcrire", "Transcribir", "转成文字"],
  noMicrophone: [
    "The browser gives no microphone to this page.",
    "Der Browser gibt dieser Seite kein Mikrofon.",
    "Le navigateur refuse le micro à cette page.",
    "El navegador no da micrófono a esta página.",
    "浏览器不允许此页使用麦克风。",
  ],
  noteTooLong: [
    "That note is too long. Speak a shorter one.",
    "Diese Notiz ist zu lang. Sprich eine kürzere.",
    "Cette note est trop longue. Fais plus court.",
    "Esa nota es demasiado larga. Graba una más corta.",
    "录音太长，请录短一些。",
  ],
  nothingHeard: [
    "Nothing was heard.",
    "Es war nichts zu hören.",
    "Rien n’a été entendu.",
    "No se oyó nada.",
    "没有听到内容。",
  ],
  recognitionFailed: [
    "The browser’s recognition failed: {error}.",
    "Die Erkennung des Browsers ging schief: {error}.",
    "La reconnaissance du navigateur a échoué : {error}.",
    "El reconocimiento del navegador falló: {error}.",
    "浏览器语音识别失败：{error}。",
  ],
  recordNote: [
    "Record a voice note",
    "Sprachnotiz aufnehmen",
    "Enregistrer une note vocale",
    "Grabar nota de voz",
    "录制语音",
  ],
  recording: ["Recording", "Aufnahme", "Enregistrement", "Grabando", "录音中"],
  voice: ["Voice", "Sprache zu Text", "Voix", "Voz", "语音输入"],
  voiceAuto: ["By itself", "Von selbst", "Automatique", "Automático", "自动"],
  voiceBrowser: ["The browser", "Der Browser", "Le navigateur", "El navegador", "浏览器"],
  voiceHint: [
    "The node writes recordings down where it is set up for that. A browser may send what you say to its maker.",
    "Der Node schreibt Aufnahmen auf, wenn er dafür eingerichtet ist. Ein Browser sendet Gesagtes womöglich an seinen Hersteller.",
    "Le nœud transcrit s’il est prévu pour. Un navigateur peut envoyer ta voix à son éditeur.",
    "El nodo transcribe si está preparado. Un navegador puede enviar tu voz a su fabricante.",
    "节点配置后可转写录音；浏览器可能把语音发给其厂商。",
  ],
  voiceNode: ["The node", "Der Node", "Le nœud", "El nodo", "节点"],
  voiceNote: [
    "Voice note, {size}",
    "Sprachnotiz, {size}",
    "Note vocale, {size}",
    "Nota de voz, {size}",
    "语音，{size}",
  ],
  writeDown: ["Write it down", "Aufschreiben", "Transcrire", "Transcribir", "转成文字"],
  writingDown: ["Being written down…", "Wird aufgeschrieben …", "Transcription…", "Transcribiendo…", "正在转写…"],
} as const satisfies Readonly<Record<string, Sentence>>;
