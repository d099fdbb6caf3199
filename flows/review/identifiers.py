"""What else could name a patient, in the eight languages of the corpora and three beside them.

The audit's patterns (curation.audit.rules.privacy) are tuned to be right when they name a person.
A review rather holds one pair too many back, so these are wider: labels of notes and forms, numbers by the
noun they are of, days of one patient's events, names beside an age.
"""

from __future__ import annotations

import re

from curation.audit.rules.privacy import DATE, Pattern

_CJK = "一-鿿々"
_LATIN = r"[A-ZÀ-ÖØ-ÞĄĆĘŁŃŚŹŻ][\wÀ-ÿ'’-]*[a-zß-ÿąćęłńóśźż]"
_CYRILLIC = r"[А-ЯЁ][а-яё]+(?:-[А-ЯЁ][а-яё]+)?"
_ARABIC = r"[ء-ي]{2,}"

_RU_MONTH = r"(?:янв|фев|мар|апр|ма[йя]|июн|июл|авг|сен|окт|ноя|дек)[а-я]*\.?"
_AR_MONTH = (
    r"(?:يناير|فبراير|مارس|[أا]بريل|مايو|يونيو|يوليو|[أا]غسطس|سبتمبر|[أا]كتوبر|نوفمبر|ديسمبر|كانون|"
    r"شباط|آذار|نيسان|"
    r"[أا]يار|حزيران|تموز|آب|[أا]يلول|تشرين)"
)
_ANY_MONTH = (
    r"(?i:jan|ene|f[ée]v|feb|mar|abr|apr|avr|may|mai|jun|jui|jul|ago|aug|ao[uû]|sep|set|oct|okt|out|"
    r"nov|dec|dez|dic|"
    r"déc)[a-zéû]*\.?"
)
_SHORT = "|".join(rf"\d{{1,2}}{mark}\d{{1,2}}{mark}\d{{2}}" for mark in (r"\.", "/", "-"))
DAY = (
    rf"(?:{DATE}|(?<![\d.])(?:{_SHORT})(?!\.?\d)|\b\d{{1,2}}-{_ANY_MONTH}-(?:\d\d)?\d\d\b|"
    rf"\b{_ANY_MONTH}\s+\d{{1,2}},?\s+de\s+(?:19|20)\d\d|\b\d{{1,2}}\s+{_RU_MONTH}\s+(?:19|20)\d\d|"
    rf"\d{{1,2}}\s+{_AR_MONTH}\s+(?:19|20)\d\d|(?:明治|大正|昭和|平成|令和)(?:\d{{1,2}}|"
    rf"元)年\s?\d{{1,2}}月\s?\d{{1,2}}日|"
    r"\b[MTSHR]\d{1,2}\.\d{1,2}\.\d{1,2}(?![\d.]))"
)
"""A day with month and year, also as two digits, in words of eleven languages or by a Japanese era."""
_DAY_LABEL = (
    r"(?i:\bd\.?o\.?b\b\.?|\bborn\b|\b(?:birth|admission|discharge|record|operation|surgery|visit|"
    r"exam(?:ination)?) ?date|"
    r"\bdate of (?:birth|admission|discharge|death|surgery|operation|visit|examination|consultation)|"
    r"\b(?:last menstrual period|lmp)\b|"
    r"\bf(?:echa|\.)? ?(?:de )?(?:nac|ingr|alta|defunc|interv|consul)\w*|\bnaci(?:ó|d[oa])\b|"
    r"\bnasc(?:eu|id[oa])\b|"
    r"\bn[ée]e? le\b|\bdate d(?:e |['’])(?:naissance|entrée|admission|sortie|décès|hospitalisation|"
    r"consultation)|"
    r"\bgeb(?:\.|oren)|\bgeburtsdatum|\b(?:aufnahme|entlassungs?|op|sterbe|untersuchungs)-?datum|"
    r"\bdata d[ei] (?:nasc|intern|alta|ricov|dimiss|óbito)\w*|\bnat[oa] il\b|"
    r"дата (?:рожд|поступ|выпис|госпит|смерти|опер)\w*|\bродил(?:ся|ась))|"
    r"生年月日|出生日期|(?:入院|出院|退院|手术|手術|死亡|就诊|受診)(?:日期|日|时间)|"
    r"تاريخ (?:ال)?(?:ميلاد|دخول|خروج|وفاة|عملية)"
)
_DAY_EVENT = (
    r"(?i:\b(?:admitted|admission|discharged?|died|death|hospitali[sz]ed|presented|operated|underwent|"
    r"delivered|"
    r"ingres\w+|falleci\w+|operad[oa]|intervenid[oa]|alta|acudió|intern(?:ad[oa]|ação)|faleceu|"
    r"décéd\w+|hospitalis\w+|sorti[e]? |admise?|opérée?|"
    r"aufnahme|aufgenommen|entlass\w+|verst(?:arb|orben)|operiert|vorgestellt|ricoverat[oa]|dimess[oa]|"
    r"decedut[oa])|"
    r"\b(?:поступил|выписан|скончал|умер|госпитализирован|опериров|прооперирован)\w*)|"
    r"\b(?:ولدت?|توفيت?|[أا]ُ?دخلت?|دخلت?|خرجت?|[أا]ُ?جريت)\b"
)
_CJK_EVENT = r"(?:入院|出院|退院|手术|手術|死亡|去世|出生|生まれ|受診|来院|就诊|住院|转院)"
_COHORT = re.compile(
    r"(?i)\bbetween\b|\bfrom\b|\buntil\b|\bthrough\b|\bpatients\b|\bcases\b|\bstudy\b|\b(?:we|were)\b|"
    r"\bentre\b|\bdesde\b|\bpacientes\b|\bcasos\b|\bde[ps]uis\b|\bzwischen\b|\bpatient(?:innen|s)\b|"
    r"пациент(?:ы|ов)|случа(?:и|ев)|例|مرضى|بين"
)
_NOT_A_PATIENT = re.compile(
    r"(?i)ethic|éthi|étic|ethik|этич|approv|committee|\birb\b|protocol|trial|genbank|ncbi|sequence|"
    r"catalog|grants?\b|"
    r"clinicaltrials|isrctn|voucher|specimen|deposit|伦理|批准|倫理|承認|试验|試験|موافقة|[أا]خلاقيات|"
    r"patent|licen[cs]e"
)
_NUMBER = r"[A-ZА-Я]{0,4}[-/ ]?(?:\d[ \-/.]?){4,}[\dA-ZА-Я]"
_SIGN = (
    r"(?i:numbers?|num(?:éro|ero)?\b\.?|n[úu]mero|nummer|номер|identification|identifi(?:er|ant|cador)|"
    r"id|no|nr|n)"
)
_AFTER = rf"(?:[\s.-]*(?:{_SIGN}\b\.?|n?[°º#№]))"
_OWNER = (
    r"(?i:hospital|patient(?:en|s|in|'s)?|paciente|pat\.|unit|records?|chart|account|registration|"
    r"admission|episode|"
    r"encounter|insurance|social security|health card|file|accession|folder|"
    r"historia(?: cl[ií]nica)?|expediente|episodio|afiliaci[óo]n|prontu[áa]rio|"
    r"dossier|sécurité sociale|assurance|séjour|"
    r"fall|akten|kranken(?:kassen|versicherungs?)?|versicherten|aufnahme|cartella)"
)
_NUMBERS = (
    rf"\b{_OWNER}(?:[\s-]+(?i:record|hospital|registration|identification|clínica))?{_AFTER}{{1,3}}"
    rf"[\s:：.#=()]*(?:(?i:is|was|ist|est|es)\s+)?{_NUMBER}|"
    rf"(?:\b{_SIGN}|\b[Nn][°º])\.?\s*(?i:de |du |del |de la |der |d['’])?{_OWNER}\b[\s:：.#№]*{_NUMBER}|"
    rf"\b(?i:aktenzeichen|fallnummer|versicherten-?n\w+\.?|patienten-?n\w+\.?)\s*[:.]?\s*{_NUMBER}|"
    r"\b(?:MRN?|NHS|SSN|UHID|NHC|NASS|DNI|NIE|CURP|CPF|CNS|IPP|NIR|PESEL|HKID|NRIC)\b"
    rf"(?i:\s*(?:no|number|num|n[°º])\b)?[\s:.#№°º]*{_NUMBER}|"
    r"(?i:\b(?:номер|истори[яи] болезни|карт[аы]|мед(?:ицинск\w+ )?карт[аы]|снилс|полис|паспорт)\b)"
    rf"(?:\s(?i:омс|карты|истории болезни|\w+ного|больного|пациента))*[\s:№.]*{_NUMBER}|"
    rf"(?:住院|门诊|病案|病历|登记|检查|就诊|医保|身份证|患者|病人|影像|影像学)(?:号码?|编号|ID|"
    rf"No\.?)[\s:：.]*{_NUMBER}|"
    rf"(?:患者|カルテ|ID|診察券|被?保険者?証?|受付|検査|登録)\s?(?:番号|No\.?|ID)[\s:：.]*{_NUMBER}|"
    rf"رقم (?:ال)?(?:ملف|مريض|هوية|سجل|[إا]قامة|ت[أا]مين|بطاقة|جواز)(?: ال\w+)?[\s:]*{_NUMBER}|"
    rf"الرقم (?:الطبي|الوطني)[\s:]*{_NUMBER}"
)
_AGED = (
    r"\s*[(,،:，（]?\s*(?:(?:who\s+(?:is|was)\s+)?an?\s+|aged\s+|age\s+|de\s+|âgée?\s+de\s+|"
    r"im Alter von\s+|البالغ\w* من العمر\s+|العمر\s+)?"
    r"\d{1,3}(?:\s*[-‐]?\s*(?:y\b|years?|yrs?|y/o|months?|weeks?|days?|años|anos|meses|ans\b|mois|anni|"
    r"J\.|Jahre?|"
    r"jährig\w*|лет|год|мес|岁|歳|月龄|个月|عام|سنة)|\s*[,)])"
)
_LABEL_NAME = (
    r"(?<![\w-])(?:(?i:(?:full |patient['’]?s? |child['’]?s? )?name(?: of (?:the )?(?:child|patient|"
    r"mother|father))?|"
    r"surname|nombres?(?: y apellidos)?|apellidos|nome(?: d[oa] paciente)?|noms?|prénom|vorname|nachname|"
    r"familienname|f\.?\s?и\.?\s?о\.?|ф\.\s?и\.\s?о\.|фио|имя|фамилия|пациент(?:ка)?|paciente))"
)
_SURNAME = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林罗高郑梁谢宋唐许韩冯邓曹彭曾肖田董潘袁蔡蒋余于杜叶程魏苏吕丁任卢姚沈钟姜崔谭陆范汪廖石金韦贾夏付方邹熊白孟秦邱侯江尹薛"
    "闫段雷龙黎史陶贺毛郝顾龚邵万覃武钱戴严莫孔向汤费鞠"
)
_LATIN_PERSON = (
    r"(?i:\b(?:patient(?:in|e)?|paciente|enfant|ni[ñn][oa]|fillette|garçon|kind|junge|mädchen|boy|girl|"
    r"man|woman|"
    r"proband|child|infant|case of|le cas de|el caso de|der fall)\b)"
)
_NAMES = (
    rf"{_LABEL_NAME}\s*[:：]\s*(?:{_LATIN}|{_CYRILLIC})|"
    rf"(?<![\w.]){_LATIN_PERSON},?\s+\(?{_LATIN}(?:\s+{_LATIN}){{1,2}}{_AGED}|"
    rf"(?<![\w.])(?!The|This|That|Our|A|An|One|Case|Patient|Index|His|Her|Patients?\b|Subject|Proband|"
    rf"Participant)"
    rf"{_LATIN}\s+(?!Patient|Case|Subject)(?:{_LATIN}\s+){{1,2}}(?:is|"
    rf"was),?\s+an?\s+\d{{1,3}}[- ](?:year|month|week|day)s?[- ]old|"
    rf"\b(?:Don|Do[ñn]a|Sr\.|Sra\.|Monsieur|Madame|Mlle|Herrn?|Frau)\s+{_LATIN}(?:\s+{_LATIN})+|"
    rf"(?<=[:.] )D(?:ña|[ªa])?\.\s+{_LATIN}\s+{_LATIN}|"
    rf"\bI\s+(?:reviewed|saw|met|examined)\s+{_LATIN},?\s+{_LATIN}|"
    rf"(?:Пациент(?:ка)?|Больн(?:ой|ая)|Ребёнок|Мальчик|Девочка),?\s+\(?{_CYRILLIC}"
    rf"(?:\s+(?:{_CYRILLIC}|[А-ЯЁ]\.\s?[А-ЯЁ]\.?)){{1,2}}|\bг-(?:на|н|жа|жи)\s+{_CYRILLIC}|"
    rf"(?:姓名|氏名|お名前|患者名|患者姓名|患者氏名)\s*[:：]?\s*[{_CJK}]{{1,4}}|"
    rf"(?:患者|患儿|病人|产妇)\s?[{_SURNAME}](?!某)[{_CJK}]{{1,2}}[,，、\s（(]+(?:男|女|"
    rf"\d{{1,3}}\s*(?:岁|月|个月))|"
    rf"(?<![{_CJK}])[{_SURNAME}](?!某)[{_CJK}]{{1,2}}(?:女士|先生|小姐)|"
    rf"(?<![{_CJK}])(?!患者|皆)[{_CJK}]{{1,4}}[ 　]?[{_CJK}ぁ-んァ-ヶ]{{0,4}}(?:さん|様|"
    rf"氏)[(（は、,\s]{{0,2}}\d{{1,3}}\s?歳|"
    rf"(?:اسم (?:ال)?(?:مريضة?|طفلة?)|الاسم)\s*:?\s*{_ARABIC}(?:\s+{_ARABIC})?|"
    rf"(?:السيدة?|المريضة?|الطفلة?|الآنسة)\s+(?!رجل|امر[أا]ة|[يت]بلغ|ذكر|[أا]نثى|"
    rf"من ){_ARABIC}(?:\s+{_ARABIC}){{1,2}}{_AGED}"
)
_THING = re.compile(
    r"(?i)gene|drug|brand|trade|product|file|variable|strain|company|software|journal|protein|species|"
    r"author|"
    r"reviewer|editor|conflict|acknowledg|personal communication"
)
_PHONE = r"\+?\(?\d(?:[ ().\-/]?\d){6,}"
_PHONES = (
    r"(?:(?i:\b(?:tel|phone|telephone|mobile|cell|tél|téléphone|telefon\w*|telefone|teléfono|tfn?o|"
    r"móvil|handy|"
    r"portable|contact(?:ed|able)?\s+(?:on|at|by|via)|reached? (?:on|at)|erreichbar|тел|телефон|моб\w*)\b)|"
    r"电话|手机|電話|携帯|連絡先|联系方式|TEL|هاتف|جوال|تلفون|للتواصل|للاتصال)"
    rf"[^\d.;。+(]{{0,30}}\.?[^\d.;。+(]{{0,3}}{_PHONE}"
)
_ADDRESSES = (
    r"(?i:\b(?:home address|patient['’]?s? address|address|adresse|anschrift|domicilio|dirección|"
    r"endereço|indirizzo|адрес)\b)"
    r"\s*[:：]\s*[^.;\n]{0,60}\d|"
    r"(?i:\b(?:resid(?:es|ing)|liv(?:es|ing)) at\b|\bdemeurant\b|\bdomicilié[e]?\b|\bwohnhaft in der\b|"
    r"\bwohnt in der\b|проживает по адресу|\bvive en (?:la |el )?(?:calle|c/))[^.;\n]{0,60}\d|"
    r"\b[A-ZÄÖÜ][\wÄÖÜäöüß-]+[- ](?:Straße|Strasse|Str\.|Ring|Allee|Platz|Weg|Gasse)\s\d|"
    r"\b[A-ZÄÖÜ][a-zäöüß]+(?:str\.|allee|platz)\s\d{1,3}\b|"
    r"\b\d{1,4},?\s(?:bis,?\s|ter,?\s)?(?:rue|boulevard|avenue|allée|impasse|chemin)\s+(?:d[eu]\s|"
    r"des\s|la\s|du\s)*[A-ZÀ-Þ]|"
    r"\b(?:C/|Calle|Avda?\.|Avenida|Paseo|Plaza|Camino|Carrera)\s?(?:de\s|la\s|del\s|los\s|"
    r"las\s)*[A-ZÀ-Þ][^.;\d]{0,40}\d|"
    r"\b\d{1,5}\s(?:[A-Z][a-z]+\s){1,2}(?:Court|Close|Crescent|Terrace|Gardens|Grove)\b|"
    r"\b(?:ул|пер|наб|бул|просп|пр-т|улица|переулок)\b\.?\s+[А-ЯЁ][а-яё]+[^.;\d]{0,10}\.?\s*\d|"
    rf"(?:住址|地址|家住|现住|現住所|住所)\s*(?:は|[:：])?\s*[{_CJK}]{{2,}}[^。；;\n]{{0,20}}\d|"
    rf"[{_CJK}]{{2,}}(?:路|街|大道|巷)\d+(?:号|弄)|\d+丁目\d+|[{_CJK}]\d+番地|"
    r"(?:عنوان|يسكن|تسكن|يقيم)[^.;\n]{0,40}\d"
)

WIDER: tuple[Pattern, ...] = (
    Pattern("a named patient", re.compile(_NAMES), _THING),
    Pattern("a record or insurance number", re.compile(_NUMBERS), _NOT_A_PATIENT),
    Pattern(
        "a labelled day of one person",
        re.compile(rf"(?:{_DAY_LABEL})[^\d]{{0,20}}?{DAY}|(?<![\w*])\*\s?{DAY}"),
        re.compile(r"(?i)\bbetween\b|\bpatients\b|\bstudy\b|\bcohort\b"),
    ),
    Pattern(
        "the day of an admission, operation or death",
        re.compile(rf"(?:{_DAY_EVENT})[^.;\d]{{0,40}}?{DAY}"),
        _COHORT,
    ),
    Pattern(
        "the day of an admission, operation or death",
        re.compile(rf"{DAY}[^。；;\d]{{0,6}}{_CJK_EVENT}|{_CJK_EVENT}[^。；;\d]{{0,6}}{DAY}"),
        _COHORT,
    ),
    Pattern("a telephone number", re.compile(_PHONES), re.compile(r"(?i)correspond|reprint|author")),
    Pattern(
        "a street address",
        re.compile(_ADDRESSES),
        re.compile(r"(?i)correspond|reprint|author|universi|e-?mail"),
    ),
)
"""Looked for beside the audit's patterns in everything a review would show."""
