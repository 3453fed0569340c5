//! Keys and words of objects that describe a failure, without case and separators.

/// Keys that describe a failure or the response itself. Their values are not what was asked for.
pub(super) const ENVELOPE: &str = "\
    attempts cause cod code correlationid detail details docs documentationurl duration \
    durationms elapsed elapsedms err errcode errmsg errno error errorcode errordescription errordetails \
    errorid errormessage errormsg errorname errors errortype exception failed failure fault faultcode faultstring \
    haserror help hint httpcode httpstatus httpstatuscode instance iserror jsonrpc message \
    meta method msg name ok path provider reason requestid ret retcode retmsg retryable retryafter stack \
    stacktrace status statuscode statustext suberrors success succeeded successful \
    suggestion time timestamp title tool trace traceback";
/// Keys whose texts explain.
pub(super) const EXPLAINS: &str = "\
    cause description detail details err errmsg error errordescription errormessage errormsg \
    exception failure failurereason faultstring message msg reason retmsg";
/// Keys of an error as text or object.
pub(super) const ERROR: &str = "\
    err errmsg error errordescription errormessage errormsg exception failure fault faultstring";
/// Keys that are false if the call failed.
pub(super) const SUCCESS: &str = "\
    ok response status succeeded success successful";
/// Keys that are true if the call failed.
pub(super) const FAILED: &str = "\
    error failed haserror iserror";
/// Keys of a word for how the call ended.
pub(super) const STATUS: &str = "\
    outcome result state status type";
/// Keys of a status of HTTP.
pub(super) const HTTP: &str = "\
    cod code errorcode httpcode httpstatus httpstatuscode status statuscode error";
/// Words for a call that failed, which are not states of records.
pub(super) const ERROR_WORDS: &str = "\
    err error exception fatal fatalerror internalerror internalservererror ko servererror";
/// Words for a call that failed, or for the state of a record.
pub(super) const FAILED_WORDS: &str = "\
    aborted declined denied errored fail failed failure invalid rejected timedout timeout unavailable";
/// Words with which servers refuse a call. Only what asks about the state of something returns them as contents.
pub(super) const REFUSED_WORDS: &str = "\
    accessdenied badgateway badrequest forbidden invalidargument invalidrequest notfound \
    permissiondenied ratelimited ratelimitexceeded resourceexhausted serviceunavailable \
    toomanyrequests unauthenticated unauthorized unknownerror validationerror";
/// Keys of numbers that are zero unless the call failed.
pub(super) const CODES: &str = "errcode errno ret retcode";
/// Keys of the exit status of a program.
pub(super) const EXIT: &str = "exitcode exitstatus rc returncode";
/// Keys of the class of an error.
pub(super) const CLASSES: &str = "type exception errortype faultcode class";
/// Values of `error` for none.
pub(super) const NO_ERROR: [&str; 12] =
    ["", "0", "false", "n/a", "na", "nil", "no", "no error", "none", "null", "ok", "success"];
/// Objects with one of these keys alone wrap the content.
pub(super) const WRAPPERS: &str = "\
    body content data detail message output payload response result text";
